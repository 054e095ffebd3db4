"""CREATE TABLE (plain and FROM SOURCE) and what changes a plain table's rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from catalog.sql.nodes.names import Name
from ingest.contract.types import Type


@dataclass(frozen=True)
class ColumnDefinition:
    """`name type [NOT NULL] [DEFAULT expr] [PRIMARY KEY]`; the default is canonical SQL text."""

    name: str
    type: Type
    nullable: bool = True
    default: str | None = None
    primary_key: bool = False
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class CreateTable:
    """`CREATE TABLE [IF NOT EXISTS] name (column ..)`, written by INSERT, UPDATE and DELETE."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    if_not_exists: bool = False
    primary_key: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key's columns, however it was declared."""
        return self.primary_key or tuple(c.name for c in self.columns if c.primary_key)


@dataclass(frozen=True)
class CreateTableFromSource:
    """`CREATE TABLE name [(c, ..)] FROM SOURCE s [(REFERENCE [=] r)] [WITH (..)]` (seed 000)."""

    name: Name
    source: Name
    reference: Name | None = None
    columns: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class Insert:
    """`INSERT INTO name [(c, ..)] query`; `text` is the query as written, `body` canonical."""

    name: Name
    query: exp.Query = field(compare=False, hash=False)
    text: str = field(default="", compare=False)
    columns: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True)
class Update:
    """`UPDATE name SET c = expr, .. [WHERE expr]`; `text` and `body` start at SET."""

    name: Name
    assignments: tuple[tuple[str, exp.Expression], ...] = field(compare=False, hash=False)
    where: exp.Expression | None = field(default=None, compare=False, hash=False)
    text: str = field(default="", compare=False)
    body: str = ""


@dataclass(frozen=True)
class Delete:
    """`DELETE FROM name [WHERE expr]`; `text` and `body` start at WHERE."""

    name: Name
    where: exp.Expression | None = field(default=None, compare=False, hash=False)
    text: str = field(default="", compare=False)
    body: str = ""
