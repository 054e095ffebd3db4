"""Staged rows in groups: a changed row's two sides together where a key is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from catalog.reads import ViewRow
from catalog.results import Rows
from catalog.text_values import text_rows
from console.fragments.grid import Header, headers_of
from ingest.contract.relation import Relation

SHOWS = (("all", "All"), ("changed", "Changed"), ("added", "Added"), ("removed", "Removed"))
_LONG = 60
_LONGEST = 500


@dataclass(frozen=True)
class Value:
    """A cell; `marked` where the row's other side has something else."""

    text: str
    look: str
    long: bool
    marked: bool


@dataclass(frozen=True)
class Side:
    """A row as it is (`before`) or as it would be (`after`), `times` over."""

    side: str
    times: int
    cells: tuple[Value, ...]


@dataclass(frozen=True)
class Change:
    """A row that is added or removed, or both sides of one that changed."""

    kind: str
    rows: tuple[Side, ...]


@dataclass(frozen=True)
class Changes:
    """What the page draws: of `read` rows, `groups` are of the kind asked for."""

    columns: tuple[Header, ...]
    groups: tuple[Change, ...]
    read: int
    total: int
    more: bool
    timestamp: int | None

    @property
    def shown(self) -> bool:
        """Whether there is any."""
        return bool(self.groups)


_Texts = Sequence[str | None]


def changes(rows: Rows, target: ViewRow, show: str, limit: int) -> Changes:
    """Group the rows of SHOW CHANGES (`mz_diff` first); `show` is a key of SHOWS.

    Rows of the target have nothing in the columns that the replacement adds.
    """
    relation = Relation(rows.relation.columns[1:])
    headings = headers_of(relation)
    read = [
        (int(row[0] or 0), tuple(row[1:]))
        for row in text_rows(rows.relation, rows.data.slice(0, limit))
    ]
    key = _places(target.key, relation.names)
    groups = [_without_new(group, len(target.columns)) for group in _groups(read, headings, key)]
    total = len(groups)
    kept = tuple(group for group in groups if show in {"all", group.kind})
    return Changes(headings, kept, len(read), total, rows.data.num_rows >= limit, rows.timestamp)


def _without_new(change: Change, width: int) -> Change:
    """The side that is there now without the columns that it does not have."""
    nothing = Value("", "", long=False, marked=False)
    return replace(
        change,
        rows=tuple(
            replace(
                row,
                cells=tuple(
                    nothing if row.side == "before" and at >= width else cell
                    for at, cell in enumerate(row.cells)
                ),
            )
            for row in change.rows
        ),
    )


def _places(key: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(names.index(name) for name in key if name in names)


def _groups(
    read: Sequence[tuple[int, _Texts]],
    headings: Sequence[Header],
    key: Sequence[int],
) -> Iterator[Change]:
    """In the order read; the two sides of a changed row stand where the first one was."""
    sides: dict[object, dict[str, _Texts]] = defaultdict(dict)
    if key:
        for diff, row in read:
            sides[tuple(row[at] for at in key)]["after" if diff > 0 else "before"] = row
    told = set()
    for diff, row in read:
        known = tuple(row[at] for at in key)
        both = sides.get(known, {})
        if key and len(both) == 2:
            if known not in told:
                told.add(known)
                yield _changed(both["before"], both["after"], headings)
            continue
        kind, side = ("added", "after") if diff > 0 else ("removed", "before")
        cells = tuple(_cell(t, h, marked=False) for t, h in zip(row, headings, strict=True))
        yield Change(kind, (Side(side, abs(diff), cells),))


def _changed(before: _Texts, after: _Texts, headings: Sequence[Header]) -> Change:
    differs = [a != b for a, b in zip(before, after, strict=True)]
    return Change(
        "changed",
        tuple(
            Side(
                side,
                1,
                tuple(
                    _cell(text, heading, marked=marked)
                    for text, heading, marked in zip(row, headings, differs, strict=True)
                ),
            )
            for side, row in (("before", before), ("after", after))
        ),
    )


def _cell(text: str | None, heading: Header, *, marked: bool) -> Value:
    if text is None:
        look = "null num" if heading.number else "null"
        return Value("NULL", look, long=False, marked=marked)
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return Value(shown, "num" if heading.number else "", len(text) > _LONG, marked)
