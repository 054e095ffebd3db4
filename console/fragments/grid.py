"""Result rows as a table of cells."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.results import Rows
from catalog.text_values import text_rows
from ingest.contract.relation import Relation

_NUMBERS = {
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "real",
    "double precision",
    "uint4",
    "uint8",
    "oid",
    "mz_timestamp",
}
_LONG = 60
_LONGEST = 2000


@dataclass(frozen=True)
class Header:
    """A column's heading; `number` aligns to the right."""

    name: str
    type: str
    number: bool


@dataclass(frozen=True)
class Cell:
    """A value as text; `look` is a CSS class, `long` asks for the whole text as a tooltip."""

    text: str
    look: str
    long: bool


@dataclass(frozen=True)
class Grid:
    """What `parts/grid.html` draws; `timestamp` (ms) is when the rows are true."""

    columns: tuple[Header, ...]
    rows: tuple[tuple[Cell, ...], ...]
    timestamp: int | None


def grid(rows: Rows, limit: int) -> Grid:
    """The first `limit` rows of a result."""
    headers = headers_of(rows.relation)
    cells = tuple(
        tuple(_cell(text, header) for text, header in zip(row, headers, strict=True))
        for row in text_rows(rows.relation, rows.data.slice(0, limit))
    )
    return Grid(headers, cells, rows.timestamp)


def headers_of(relation: Relation) -> tuple[Header, ...]:
    """The columns' headings."""
    return tuple(
        Header(column.name, column.type.sql, column.type.name in _NUMBERS)
        for column in relation.columns
    )


def _cell(text: str | None, header: Header) -> Cell:
    if text is None:
        return Cell("NULL", "null", long=False)
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return Cell(shown, "num" if header.number else "", len(text) > _LONG)
