"""The statements that the wizard shows, copies and executes: one text, from nodes alone."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.names import DATABASE, SCHEMA
from catalog.reads import ItemRow
from catalog.sql import render_pretty
from catalog.sql.nodes.connection import CreateConnection
from catalog.sql.nodes.names import Name, Option, SecretReference
from catalog.sql.nodes.session import TransactionControl
from catalog.sql.nodes.source import CreateSource
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import CreateTableFromSource
from console.wizards.listing import Listed
from console.wizards.state import Choice

TEXT_OPTIONS = (
    ("HOST", "host"),
    ("PORT", "port"),
    ("DATABASE", "database"),
    ("USER", "user"),
    ("SSL MODE", "ssl_mode"),
    ("SSL CERTIFICATE AUTHORITY", "ssl_root"),
)


def name_of(item: ItemRow) -> Name:
    """The item's name, as short as it is still certain."""
    if (item.database, item.schema) == (DATABASE, SCHEMA):
        return Name((item.name,))
    return Name((item.database, item.schema, item.name))


def create_connection(fields: dict[str, str], secret: str) -> CreateConnection:
    """`CREATE CONNECTION .. TO POSTGRES`, the password by its secret's name."""
    options = [Option(name, fields[key]) for name, key in TEXT_OPTIONS if fields.get(key)]
    if secret:
        options.append(Option("PASSWORD", SecretReference(Name((secret,)))))
    return CreateConnection(Name((fields["name"],)), "postgres", tuple(options))


def create_postgres_source(name: str, connection: ItemRow, publication: str) -> CreateSource:
    """`CREATE SOURCE .. FROM POSTGRES CONNECTION ..`."""
    options = (Option("PUBLICATION", publication),)
    return CreateSource(Name((name,)), "postgres", options, name_of(connection))


def create_generator_source(name: str, generator: str) -> CreateSource:
    """`CREATE SOURCE .. FROM LOAD GENERATOR ..`."""
    return CreateSource(Name((name,)), "load generator", (), None, generator)


def create_table(source: ItemRow, row: Listed, choice: Choice) -> CreateTableFromSource:
    """`CREATE TABLE .. FROM SOURCE .. (REFERENCE ..)`."""
    parts = (row.namespace, row.name) if row.namespace else (row.name,)
    order = {column.name: number for number, column in enumerate(row.row.columns)}
    return CreateTableFromSource(
        name=Name((choice.into,)),
        source=name_of(source),
        reference=Name(parts),
        text_columns=tuple(sorted(choice.text, key=lambda name: order.get(name, 0))),
        exclude_columns=tuple(sorted(choice.exclude, key=lambda name: order.get(name, 0))),
    )


def transaction(statements: Iterable[Statement]) -> str:
    """All of them in one transaction, so that they share one snapshot."""
    begin, commit = TransactionControl("begin"), TransactionControl("commit")
    whole: list[Statement] = [begin, *statements, commit]
    return "\n\n".join(map(render_pretty, whole))
