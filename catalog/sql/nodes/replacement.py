"""Replacements of materialized views: made, applied, taken back, looked into."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from catalog.sql.nodes.materialized_view import Refresh
from catalog.sql.nodes.names import Name, Option


@dataclass(frozen=True)
class CreateReplacement:
    """`CREATE REPLACEMENT MATERIALIZED VIEW name [(c, ..)] FOR target .. AS query`.

    Seed 002 writes `CREATE REPLACEMENT name FOR MATERIALIZED VIEW target`; both are read.
    """

    name: Name
    target: Name
    query: exp.Query = field(compare=False, hash=False)
    text: str = field(default="", compare=False)
    columns: tuple[str, ...] = ()
    cluster: Name | None = None
    refresh: tuple[Refresh, ...] = ()
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    body: str = ""


@dataclass(frozen=True)
class ApplyReplacement:
    """`ALTER MATERIALIZED VIEW [IF EXISTS] name APPLY REPLACEMENT replacement`."""

    name: Name
    replacement: Name
    if_exists: bool = False


@dataclass(frozen=True)
class RollbackReplacement:
    """`ALTER MATERIALIZED VIEW [IF EXISTS] name ROLLBACK REPLACEMENT`."""

    name: Name
    if_exists: bool = False


@dataclass(frozen=True)
class SetGuard:
    """`ALTER MATERIALIZED VIEW [IF EXISTS] replacement SET (guard rail, ..)`.

    The guard rails given are all that there are afterwards.
    """

    name: Name
    options: tuple[Option, ...]
    if_exists: bool = False


@dataclass(frozen=True)
class ShowChanges:
    """`SHOW CHANGES FOR REPLACEMENT name [LIMIT n]`."""

    name: Name
    limit: int | None = None
