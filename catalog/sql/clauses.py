"""What each statement is made of, as clauses for the layouts; one function per statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.names import Name, Option, SecretReference
from catalog.sql.nodes.query import ExplainTimestamp, Select
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from catalog.sql.nodes.session import AlterSystem, Discard, SetVariable, TransactionControl
from catalog.sql.nodes.show import ShowCreate, ShowObjects, ShowVariable
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import (
    ColumnDefinition,
    CreateTable,
    CreateTableFromSource,
    Delete,
    Insert,
    Update,
)
from catalog.sql.nodes.view import CreateView
from catalog.sql.strings import identifier, literal

REDACTED = "<redacted>"
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_NUMERIC_OPTIONS = frozenset(
    ("PORT", "AS OF", "UP TO", "SCALE FACTOR", "MAX CARDINALITY", "KEYS", "SNAPSHOT ROUNDS")
) | frozenset(("VALUE SIZE", "SEED", "PARTITIONS", "BATCH SIZE"))


@dataclass(frozen=True)
class Style:
    """How to write: the console's looser spelling, and whether secrets' values are hidden."""

    pretty: bool = False
    redacted: bool = False

    @property
    def equals(self) -> str:
        """What stands between an option's name and its value."""
        return " " if self.pretty else " = "


def clauses(statement: Statement, style: Style) -> list[Clause]:
    """The statement's clauses in order; empty ones count for nothing."""
    return _WRITERS[type(statement)](statement, style)


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _name(name: Name | None, lead: str = "") -> str:
    return _words(lead, ".".join(map(identifier, name.parts))) if name else ""


def _when(condition: bool, words: str) -> str:  # noqa: FBT001
    return words if condition else ""


def _names(lead: str, names: Iterable[str]) -> Group:
    return Group(lead, tuple(map(identifier, names)), fill=True)


def _columns(head: str, columns: tuple[str, ...]) -> Clause:
    return _names(head, columns) if columns else head


def _option(option: Option, style: Style) -> Clause:
    value = option.value
    if isinstance(value, tuple):
        lead = (option.name + style.equals).rstrip()
        return Group(lead, tuple(_name(name) for name in value), fill=True)
    text = _option_value(option)
    return option.name + style.equals + text if text else option.name


def _option_value(option: Option) -> str:
    match option.value:
        case bool() as flag:
            return str(flag).lower()
        case Name() as name:
            return _name(name)
        case SecretReference(name):
            return _name(name, "SECRET")
        case str() as text if option.name in _NUMERIC_OPTIONS and _NUMBER.fullmatch(text):
            return text
        case str() as text:
            return ("FOR " if option.name == "RETAIN HISTORY" else "") + literal(text)
        case _:
            return ""


def _options(lead: str, options: tuple[Option, ...], style: Style) -> Clause:
    return Group(lead, tuple(_option(option, style) for option in options)) if options else ""


def _secret_value(value: str, style: Style) -> str:
    return "AS " + literal(REDACTED if style.redacted else value)


def _create_secret(s: CreateSecret, style: Style) -> list[Clause]:
    head = _words("CREATE SECRET", _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name))
    return [_words(head, _secret_value(s.value, style))]


def _alter_secret(s: AlterSecret, style: Style) -> list[Clause]:
    head = _words("ALTER SECRET", _when(s.if_exists, "IF EXISTS"), _name(s.name))
    return [_words(head, _secret_value(s.value, style))]


def _create_connection(s: CreateConnection, style: Style) -> list[Clause]:
    validate = () if s.validate is None else (Option("VALIDATE", s.validate),)
    return [
        _words("CREATE CONNECTION", _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name)),
        Group(f"TO {s.kind.upper()}", tuple(_option(option, style) for option in s.options)),
        _options("WITH", validate, style),
    ]


def _validate_connection(s: ValidateConnection, _: Style) -> list[Clause]:
    return [_name(s.name, "VALIDATE CONNECTION")]


def _create_source(s: CreateSource, style: Style) -> list[Clause]:
    kind = _words(s.kind.upper(), s.generator.upper(), _name(s.connection, "CONNECTION"))
    return [
        _words("CREATE SOURCE", _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name)),
        _name(s.cluster, "IN CLUSTER"),
        _options(f"FROM {kind}", s.options, style) or f"FROM {kind}",
        _options("WITH", s.with_options, style),
    ]


def _refresh_references(s: RefreshReferences, _: Style) -> list[Clause]:
    head = _words("ALTER SOURCE", _when(s.if_exists, "IF EXISTS"), _name(s.name))
    return [_words(head, "REFRESH REFERENCES")]


def _create_table_from_source(s: CreateTableFromSource, style: Style) -> list[Clause]:
    head = _words("CREATE TABLE", _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name))
    reference = f"(REFERENCE{style.equals}{_name(s.reference)})" if s.reference else ""
    equals = style.equals.rstrip()
    lists = (("TEXT COLUMNS", s.text_columns), ("EXCLUDE COLUMNS", s.exclude_columns))
    given = tuple(_names(word + equals, names) for word, names in lists if names)
    return [
        _columns(head, s.columns),
        _words(_name(s.source, "FROM SOURCE"), reference),
        Group("WITH", given) if given else "",
    ]


def _create_table(s: CreateTable, _: Style) -> list[Clause]:
    head = _words("CREATE TABLE", _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name))
    items: list[Clause] = [_column(column) for column in s.columns]
    if s.primary_key:
        items.append(_names("PRIMARY KEY", s.primary_key))
    return [Group(head, tuple(items))]


def _column(column: ColumnDefinition) -> str:
    return _words(
        identifier(column.name),
        column.type.sql,
        _when(not column.nullable, "NOT NULL"),
        f"DEFAULT {column.default}" if column.default is not None else "",
        _when(column.primary_key, "PRIMARY KEY"),
    )


def _insert(s: Insert, style: Style) -> list[Clause]:
    return [_columns(_name(s.name, "INSERT INTO"), s.columns), _query(s, style)]


def _update(s: Update, style: Style) -> list[Clause]:
    rest = (s.text if style.pretty else "") or s.body
    if not rest:
        assigned = ", ".join(f"{identifier(c)} = {_sql(value)}" for c, value in s.assignments)
        rest = _words("SET", assigned, f"WHERE {_sql(s.where)}" if s.where else "")
    return [_name(s.name, "UPDATE"), rest]


def _delete(s: Delete, style: Style) -> list[Clause]:
    where = f"WHERE {_sql(s.where)}" if s.where else ""
    return [_name(s.name, "DELETE FROM"), (s.text if style.pretty else "") or s.body or where]


def _query(s: Select | Insert | CreateView, style: Style) -> str:
    return (s.text if style.pretty else "") or s.body or s.text or _sql(s.query)


def _sql(tree: exp.Expr) -> str:
    return tree.sql(dialect="materialize")


def _create_view(s: CreateView, style: Style) -> list[Clause]:
    create = "CREATE OR REPLACE VIEW" if s.or_replace else "CREATE VIEW"
    head = _words(create, _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name))
    return [_columns(head, s.columns), f"AS {_query(s, style)}"]


def _create_namespace(s: CreateNamespace, _: Style) -> list[Clause]:
    create = f"CREATE {s.kind.upper()}"
    return [_words(create, _when(s.if_not_exists, "IF NOT EXISTS"), _name(s.name))]


def _drop(s: Drop, _: Style) -> list[Clause]:
    head = _words(f"DROP {s.kind.upper()}", _when(s.if_exists, "IF EXISTS"))
    return [_words(head, ", ".join(map(_name, s.names)), _when(s.cascade, "CASCADE"))]


def _rename(s: Rename, _: Style) -> list[Clause]:
    head = _words(f"ALTER {s.kind.upper()}", _when(s.if_exists, "IF EXISTS"), _name(s.name))
    return [_words(head, "RENAME TO", identifier(s.new_name))]


def _show_objects(s: ShowObjects, _: Style) -> list[Clause]:
    return [
        _words(
            f"SHOW {s.kind.upper()}S",
            _name(s.of or s.in_schema, "FROM"),
            _name(s.on_source, "ON"),
            f"LIKE {literal(s.like)}" if s.like is not None else "",
            f"WHERE {s.where}" if s.where else "",
        )
    ]


def _show_create(s: ShowCreate, _: Style) -> list[Clause]:
    redacted = _when(s.redacted, "REDACTED")
    return [_words("SHOW", redacted, f"CREATE {s.kind.upper()}", _name(s.name))]


def _variable(name: str) -> str:
    parts = name.split(".")
    return ".".join(map(identifier, parts)) if all(parts) else identifier(name)


def _show_variable(s: ShowVariable, _: Style) -> list[Clause]:
    return [_words("SHOW", _variable(s.name) if s.name else "ALL")]


def _select(s: Select, style: Style) -> list[Clause]:
    as_of = s.as_of_text or (_sql(s.as_of) if s.as_of else "")
    at = _when(s.at_least, "AT LEAST")
    return [_query(s, style), _words("AS OF", at, as_of) if as_of else ""]


def _explain_timestamp(s: ExplainTimestamp, style: Style) -> list[Clause]:
    return ["EXPLAIN TIMESTAMP FOR", *_select(s.select, style)]


def _transaction(s: TransactionControl, _: Style) -> list[Clause]:
    modes = [
        f"ISOLATION LEVEL {s.isolation.upper()}" if s.isolation else "",
        {None: "", True: "READ ONLY", False: "READ WRITE"}[s.read_only],
    ]
    return [_words(s.action.upper(), ", ".join(mode for mode in modes if mode))]


def _set_variable(s: SetVariable, _: Style) -> list[Clause]:
    if s.value is None and s.local:
        return [_words("SET LOCAL", _variable(s.name), "= DEFAULT")]
    if s.value is None:
        return [_words("RESET", "ALL" if s.name == "all" else _variable(s.name))]
    return [_words("SET", _when(s.local, "LOCAL"), _variable(s.name), "=", literal(s.value))]


def _alter_system(s: AlterSystem, _: Style) -> list[Clause]:
    if s.value is None:
        return [_words("ALTER SYSTEM RESET", "ALL" if s.name == "all" else _variable(s.name))]
    return [_words("ALTER SYSTEM SET", _variable(s.name), "=", literal(s.value))]


def _discard(s: Discard, _: Style) -> list[Clause]:
    return [f"DISCARD {s.target.upper()}"]


_WRITERS: dict[type, Callable[[Any, Style], list[Clause]]] = {
    CreateSecret: _create_secret,
    AlterSecret: _alter_secret,
    CreateConnection: _create_connection,
    ValidateConnection: _validate_connection,
    CreateSource: _create_source,
    RefreshReferences: _refresh_references,
    CreateTableFromSource: _create_table_from_source,
    CreateTable: _create_table,
    Insert: _insert,
    Update: _update,
    Delete: _delete,
    CreateView: _create_view,
    CreateNamespace: _create_namespace,
    Drop: _drop,
    Rename: _rename,
    ShowObjects: _show_objects,
    ShowCreate: _show_create,
    ShowVariable: _show_variable,
    Select: _select,
    ExplainTimestamp: _explain_timestamp,
    TransactionControl: _transaction,
    SetVariable: _set_variable,
    AlterSystem: _alter_system,
    Discard: _discard,
}
