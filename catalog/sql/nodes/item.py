"""Statements that mean the same for every kind of item, and namespaces."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.names import ItemKind, Name


@dataclass(frozen=True)
class CreateNamespace:
    """`CREATE SCHEMA | DATABASE [IF NOT EXISTS] name`."""

    kind: ItemKind
    name: Name
    if_not_exists: bool = False


@dataclass(frozen=True)
class Drop:
    """`DROP kind [IF EXISTS] name, .. [CASCADE | RESTRICT]`.

    `replacement`: DROP REPLACEMENT, which leaves other materialized views alone.
    """

    kind: ItemKind
    names: tuple[Name, ...]
    if_exists: bool = False
    cascade: bool = False
    replacement: bool = False


@dataclass(frozen=True)
class Rename:
    """`ALTER kind [IF EXISTS] name RENAME TO new`."""

    kind: ItemKind
    name: Name
    new_name: str
    if_exists: bool = False
