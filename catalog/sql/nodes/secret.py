"""CREATE SECRET, ALTER SECRET."""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog.sql.nodes.names import Name


@dataclass(frozen=True)
class CreateSecret:
    """`CREATE SECRET [IF NOT EXISTS] name AS value`; the value is a literal's text."""

    name: Name
    value: str = field(repr=False)
    if_not_exists: bool = False


@dataclass(frozen=True)
class AlterSecret:
    """`ALTER SECRET [IF EXISTS] name AS value`."""

    name: Name
    value: str = field(repr=False)
    if_exists: bool = False
