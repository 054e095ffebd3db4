"""SHOW, transactions and variables."""

from __future__ import annotations

from catalog.sql.clauses.style import Style, name_of, when, words
from catalog.sql.layout import Clause
from catalog.sql.nodes.session import (
    AlterSystem,
    Discard,
    Savepoint,
    SetVariable,
    TransactionControl,
)
from catalog.sql.nodes.show import ShowCreate, ShowObjects, ShowVariable
from catalog.sql.strings import identifier, literal


def show_objects(s: ShowObjects, _: Style) -> list[Clause]:
    """Clauses of ShowObjects."""
    return [
        words(
            f"SHOW {s.kind.upper()}S",
            name_of(s.in_schema, "FROM"),
            name_of(s.of, "FOR" if s.kind == "replacement" else "FROM"),
            name_of(s.on_source, "ON"),
            f"LIKE {literal(s.like)}" if s.like is not None else "",
            f"WHERE {s.where}" if s.where else "",
        )
    ]


def show_create(s: ShowCreate, _: Style) -> list[Clause]:
    """Clauses of ShowCreate."""
    redacted = when(s.redacted, "REDACTED")
    kind = "REPLACEMENT" if s.replacement else s.kind.upper()
    return [words("SHOW", redacted, f"CREATE {kind}", name_of(s.name))]


def show_variable(s: ShowVariable, _: Style) -> list[Clause]:
    """Clauses of ShowVariable."""
    return [words("SHOW", _variable(s.name) if s.name else "ALL")]


def transaction(s: TransactionControl, _: Style) -> list[Clause]:
    """Clauses of TransactionControl."""
    modes = [
        f"ISOLATION LEVEL {s.isolation.upper()}" if s.isolation else "",
        {None: "", True: "READ ONLY", False: "READ WRITE"}[s.read_only],
    ]
    return [words(s.action.upper(), ", ".join(mode for mode in modes if mode))]


def savepoint(s: Savepoint, _: Style) -> list[Clause]:
    """Clauses of Savepoint."""
    return [words(s.action.upper(), identifier(s.name))]


def set_variable(s: SetVariable, _: Style) -> list[Clause]:
    """Clauses of SetVariable."""
    if s.value is None and s.local:
        return [words("SET LOCAL", _variable(s.name), "= DEFAULT")]
    if s.value is None:
        return [words("RESET", "ALL" if s.name == "all" else _variable(s.name))]
    return [words("SET", when(s.local, "LOCAL"), _variable(s.name), "=", literal(s.value))]


def alter_system(s: AlterSystem, _: Style) -> list[Clause]:
    """Clauses of AlterSystem."""
    if s.value is None:
        return [words("ALTER SYSTEM RESET", "ALL" if s.name == "all" else _variable(s.name))]
    return [words("ALTER SYSTEM SET", _variable(s.name), "=", literal(s.value))]


def discard(s: Discard, _: Style) -> list[Clause]:
    """Clauses of Discard."""
    return [f"DISCARD {s.target.upper()}"]


def _variable(name: str) -> str:
    parts = name.split(".")
    return ".".join(map(identifier, parts)) if all(parts) else identifier(name)
