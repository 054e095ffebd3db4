"""A replacement's columns beside its target's, with a verdict on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from catalog.reads import ColumnRow


@dataclass(frozen=True)
class ColumnPair:
    """One position: `look` is same, added or bad; `verdict` says what is wrong."""

    position: int
    name: str
    before: str
    after: str
    look: str
    verdict: str = ""


@dataclass(frozen=True)
class Schema:
    """All positions."""

    rows: tuple[ColumnPair, ...]

    @property
    def same(self) -> bool:
        """Column for column the same."""
        return all(row.look == "same" for row in self.rows)

    @property
    def fits(self) -> bool:
        """The same, with nothing but more columns after them."""
        return all(row.look != "bad" for row in self.rows)

    @property
    def extra(self) -> int:
        """Columns that the replacement adds."""
        return sum(row.look == "added" for row in self.rows)


def schema(target: Sequence[ColumnRow], replacement: Sequence[ColumnRow]) -> Schema:
    """Compare by position, as the statement does."""
    pairs = zip_longest(target, replacement)
    return Schema(tuple(_pair(number, *pair) for number, pair in enumerate(pairs, start=1)))


def _pair(number: int, old: ColumnRow | None, new: ColumnRow | None) -> ColumnPair:
    if old is None:
        assert new is not None  # noqa: S101 (zip_longest gives one of the two)
        return ColumnPair(number, new.name, "", _type(new), "added")
    if new is None:
        return ColumnPair(number, old.name, _type(old), "", "bad", "missing")
    before, after = _type(old), _type(new)
    if old.name != new.name:
        return ColumnPair(number, old.name, before, f"{new.name} {after}", "bad", "another name")
    if old.type != new.type:
        return ColumnPair(number, old.name, before, after, "bad", "another type")
    return ColumnPair(number, old.name, before, after, "same")


def _type(column: ColumnRow) -> str:
    return column.type if column.nullable else f"{column.type} not null"
