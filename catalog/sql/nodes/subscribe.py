"""SUBSCRIBE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.query import Select

Envelope = Literal["none", "upsert", "debezium"]


@dataclass(frozen=True)
class Ordering:
    """One column of WITHIN TIMESTAMP ORDER BY; `nulls_first` None: nulls sort as the largest."""

    column: Name
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True)
class Subscribe:
    """`SUBSCRIBE [TO] name | (query)`: what there is at a time, then every change of it.

    One of `name` and `select` is given. `key` are the columns of an envelope. `as_of_text` and
    `up_to_text` are the canonical texts, which decide whether two nodes are equal.
    """

    name: Name | None = None
    select: Select | None = None
    envelope: Envelope = "none"
    key: tuple[Name, ...] = ()
    order: tuple[Ordering, ...] = ()
    options: tuple[Option, ...] = ()
    as_of: exp.Expression | None = field(default=None, compare=False, hash=False)
    at_least: bool = False
    as_of_text: str = ""
    up_to: exp.Expression | None = field(default=None, compare=False, hash=False)
    up_to_text: str = ""

    def flag(self, name: str, *, default: bool) -> bool:
        """The value of an option, SNAPSHOT or PROGRESS."""
        given = {option.name: option.value for option in self.options}
        return bool(given.get(name, default))
