"""Names, options and the pieces every statement shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ItemKind = Literal[
    "secret",
    "connection",
    "source",
    "table",
    "view",
    "materialized view",
    "schema",
    "database",
]


@dataclass(frozen=True)
class Name:
    """A name of one to three parts, already folded to lower case where it was not quoted.

    `at` is the 0-based offset of its first character in the statement's text.
    """

    parts: tuple[str, ...]
    at: int = field(default=-1, compare=False)

    @property
    def last(self) -> str:
        """The item's own name."""
        return self.parts[-1]


@dataclass(frozen=True)
class Option:
    """`NAME [=] value`. The value is text, a flag, a name, names, or `SECRET name`."""

    name: str
    value: OptionValue
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class SecretReference:
    """`SECRET name` where a value could stand."""

    name: Name


OptionValue = str | bool | Name | tuple[Name, ...] | SecretReference | None
