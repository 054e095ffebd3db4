"""Secrets, connections, sources, namespaces, and what all kinds share."""

from __future__ import annotations

from catalog.sql.clauses import legacy
from catalog.sql.clauses.style import Style, name_of, option_clause, option_list, when, words
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.names import Option
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.strings import identifier, literal

REDACTED = "<redacted>"


def create_secret(s: CreateSecret, style: Style) -> list[Clause]:
    """Clauses of CreateSecret."""
    head = words("CREATE SECRET", when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))
    return [words(head, _secret_value(s.value, style))]


def alter_secret(s: AlterSecret, style: Style) -> list[Clause]:
    """Clauses of AlterSecret."""
    head = words("ALTER SECRET", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [words(head, _secret_value(s.value, style))]


def create_connection(s: CreateConnection, style: Style) -> list[Clause]:
    """Clauses of CreateConnection."""
    validate = () if s.validate is None else (Option("VALIDATE", s.validate),)
    return [
        words("CREATE CONNECTION", when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name)),
        Group(f"TO {s.kind.upper()}", tuple(option_clause(option, style) for option in s.options)),
        option_list("WITH", validate, style),
    ]


def validate_connection(s: ValidateConnection, _: Style) -> list[Clause]:
    """Clauses of ValidateConnection."""
    return [name_of(s.name, "VALIDATE CONNECTION")]


def create_source(s: CreateSource, style: Style) -> list[Clause]:
    """Clauses of CreateSource."""
    kind = words(s.kind.upper(), s.generator.upper(), name_of(s.connection, "CONNECTION"))
    return [
        words("CREATE SOURCE", when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name)),
        name_of(s.cluster, "IN CLUSTER"),
        option_list(f"FROM {kind}", s.options, style) or f"FROM {kind}",
        legacy.exports(s.exports),
        name_of(s.progress, "EXPOSE PROGRESS AS"),
        option_list("WITH", s.with_options, style),
    ]


def refresh_references(s: RefreshReferences, _: Style) -> list[Clause]:
    """Clauses of RefreshReferences."""
    head = words("ALTER SOURCE", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [words(head, "REFRESH REFERENCES")]


def create_namespace(s: CreateNamespace, _: Style) -> list[Clause]:
    """Clauses of CreateNamespace."""
    create = f"CREATE {s.kind.upper()}"
    return [words(create, when(s.if_not_exists, "IF NOT EXISTS"), name_of(s.name))]


def drop(s: Drop, _: Style) -> list[Clause]:
    """Clauses of Drop."""
    kind = "REPLACEMENT" if s.replacement else s.kind.upper()
    head = words(f"DROP {kind}", when(s.if_exists, "IF EXISTS"))
    return [words(head, ", ".join(map(name_of, s.names)), when(s.cascade, "CASCADE"))]


def rename(s: Rename, _: Style) -> list[Clause]:
    """Clauses of Rename."""
    head = words(f"ALTER {s.kind.upper()}", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    return [words(head, "RENAME TO", identifier(s.new_name))]


def _secret_value(value: str, style: Style) -> str:
    return "AS " + literal(REDACTED if style.redacted else value)
