"""What a collection looks like to everyone who reads it."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.contract.types import Type


@dataclass(frozen=True)
class Column:
    """One named, typed column; `nullable` False means NOT NULL is guaranteed."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True)
class Relation:
    """An ordered list of columns and, where one is known, the primary key (column names)."""

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(column.name for column in self.columns)
