"""Sources that choose their tables themselves: the older form, with subsources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.table import ColumnDefinition


@dataclass(frozen=True)
class ExportedTable:
    """`reference [AS name]`."""

    reference: Name
    name: Name | None = None


@dataclass(frozen=True)
class Exports:
    """`FOR ALL TABLES | FOR SCHEMAS (s, ..) | FOR TABLES (t [AS n], ..)`."""

    kind: Literal["all tables", "schemas", "tables"]
    schemas: tuple[str, ...] = ()
    tables: tuple[ExportedTable, ...] = ()
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class CreateSubsource:
    """`CREATE SUBSOURCE name (c, ..) OF SOURCE s WITH (EXTERNAL REFERENCE = r | PROGRESS, ..)`.

    What the catalog keeps and SHOW CREATE shows; nobody runs it.
    """

    name: Name
    columns: tuple[ColumnDefinition, ...]
    source: Name
    reference: Name | None = None
    progress: bool = False
    text_columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class AddSubsources:
    """`ALTER SOURCE [IF EXISTS] s ADD SUBSOURCE t [AS n], .. [WITH (..)]`."""

    name: Name
    tables: tuple[ExportedTable, ...]
    options: tuple[Option, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True)
class DropSubsources:
    """`ALTER SOURCE [IF EXISTS] s DROP SUBSOURCE [IF EXISTS] n, .. [CASCADE | RESTRICT]`."""

    name: Name
    names: tuple[Name, ...]
    if_exists: bool = False
    names_if_exist: bool = False
    cascade: bool = False
