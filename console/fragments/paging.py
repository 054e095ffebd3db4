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
    page = page_of(asked_page(parameters), len(rows))
    return rows[(page.number - 1) * PAGE : page.number * PAGE], page


def asked_page(parameters: Parameters) -> int:
    """The number of the page that is asked for, 1 for anything that is none."""
    text = parameters.get("page", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 10 else 1


def page_of(number: int, total: int) -> Page:
    """The page of that number of a list of so many rows, the nearest one that exists."""
    pages = max(1, -(-total // PAGE))
    return Page(min(pages, max(1, number)), pages, total)
