"""What a query may ask about names, and what it is told; the catalog implements `Names`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from sqlglot import exp

from catalog.errors import StatementError
from ingest.contract.relation import Relation

ReadableKind = Literal["table", "source", "view", "materialized view", "system"]


class Names(Protocol):
    """A catalog snapshot as a query sees it, with the session's search path."""

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """The readable item that one to three name parts stand for, or None."""


@dataclass(frozen=True)
class Resolved:
    """A readable item.

    `id` is `u12` for users' items and `schema.name` for system relations. `relation` is what
    reading it gives (a source's is its progress). A view carries its `query`, its relation's names
    are its columns, and `names` resolves the names in its body (None: as the reader does). `key`
    are columns that surely no two rows share: a declared key that nothing checks is none.
    """

    id: str
    kind: ReadableKind
    relation: Relation
    query: exp.Query | None = field(default=None, compare=False)
    names: Names | None = field(default=None, compare=False)
    key: tuple[str, ...] = ()


class UnknownColumn(StatementError):
    """A column name that no input has."""

    sqlstate = "42703"


class UnknownRelation(StatementError):
    """A relation name that resolves to nothing."""

    sqlstate = "42P01"


class AmbiguousColumn(StatementError):
    """A column name that two inputs have."""

    sqlstate = "42702"


class UnknownFunction(StatementError):
    """A function, operator or cast that does not exist for these types."""

    sqlstate = "42883"


class TypeMismatch(StatementError):
    """Types that cannot meet."""

    sqlstate = "42804"


def position(node: exp.Expr | None) -> int | None:
    """The 0-based offset of the node's first token, where the parser kept one."""
    if node is None:
        return None
    starts = [found.meta["start"] for found in node.walk() if "start" in found.meta]
    return min(starts) if starts else None


def parts_of(table: exp.Table) -> tuple[str, ...]:
    """A table's name, folded to lower case where it was not quoted."""
    return tuple(fold(part) for part in table.parts)


def fold(part: exp.Expr) -> str:
    """An identifier as PostgreSQL means it."""
    if isinstance(part, exp.Identifier) and part.args.get("quoted"):
        return part.name
    return part.name.lower()


def unknown_relation(parts: tuple[str, ...], at: int | None) -> UnknownRelation:
    """The error for a relation that is not there."""
    message = f"unknown catalog item '{'.'.join(parts)}'"
    return UnknownRelation(message, position=at)
