"""What every live view shares: its parameters, a page of a list, and that its thing is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Parameters = Mapping[str, str]
PAGE = 100
Row = TypeVar("Row")


class Gone(Exception):
    """The thing that the view shows is no longer there."""


@dataclass(frozen=True)
class Page:
    """A part of a list: `first` and `last` are 1-based."""

    number: int
    pages: int
    total: int

    @property
    def first(self) -> int:
        """Number of the first row shown."""
        return min(self.total, (self.number - 1) * PAGE + 1)

    @property
    def last(self) -> int:
        """Number of the last row shown."""
        return min(self.total, self.number * PAGE)


def cut(rows: Sequence[Row], parameters: Parameters) -> tuple[Sequence[Row], Page]:
    """The page of `rows` that the parameters ask for (`page`), the nearest one that exists."""
    pages = max(1, -(-len(rows) // PAGE))
    asked = parameters.get("page", "1")
    number = min(pages, max(1, int(asked) if asked.isdigit() else 1))
    return rows[(number - 1) * PAGE : number * PAGE], Page(number, pages, len(rows))
