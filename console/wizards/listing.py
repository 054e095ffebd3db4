"""A source's references made ready for choosing: searched and counted in memory, quickly.

Two thousand references take longer to read than to search, so the newest listing of a source is
kept until its references are refreshed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from functools import lru_cache

from catalog import reads
from catalog.here import region_here
from catalog.reads import ReferenceColumnRow, ReferenceRow, SourceRow
from console.wizards.state import Choice

_KEPT = 8


@dataclass(frozen=True)
class Listed:
    """One upstream table. `must` are columns without a faithful form, `text` are read as text."""

    key: str
    row: ReferenceRow
    must: tuple[str, ...]
    text: tuple[str, ...]
    blocked: str
    warnings: tuple[str, ...]
    words: str = field(repr=False)
    column_words: str = field(repr=False)

    @property
    def name(self) -> str:
        """The table's own name."""
        return self.row.name

    @property
    def namespace(self) -> str:
        """Its schema upstream."""
        return self.row.namespace

    def default(self) -> Choice:
        """Types with a faithful text form are read as text; the others wait for a person."""
        return Choice(self.row.name, text=list(self.text))

    def undecided(self, choice: Choice) -> int:
        """Columns that still need TEXT or EXCLUDE."""
        done = {*choice.text, *choice.exclude}
        return sum(name not in done for name in self.must)


@dataclass(frozen=True)
class Listing:
    """All of a source's references, in order, and by key."""

    rows: tuple[Listed, ...]
    by_key: dict[str, Listed]
    namespaces: dict[str, tuple[Listed, ...]]
    new: int

    def matching(self, wanted: str) -> tuple[Listed, ...]:
        """`col:email` looks in columns, `schema.table` in both parts, other text in either."""
        text = wanted.strip().lower()
        if not text:
            return self.rows
        if text.startswith("col:"):
            return tuple(row for row in self.rows if text[4:] in row.column_words)
        if "." in text:
            space, _, name = text.partition(".")
            return tuple(row for row in self.rows if _both(row, space, name))
        return tuple(row for row in self.rows if text in row.words)


def _both(row: Listed, space: str, name: str) -> bool:
    return space in row.namespace.lower() and name in row.name.lower()


def listing(source: SourceRow) -> Listing:
    """The source's references as of their last refresh."""
    updated = source.references_updated_at
    return _listing(region_here(), source.item.id, updated, source.references)


@lru_cache(maxsize=_KEPT)
def _listing(region: str, source_id: str, updated_at: dt.datetime | None, count: int) -> Listing:
    found = sorted(reads.references(source_id, region), key=lambda row: (row.namespace, row.name))
    rows = tuple(map(_listed, found))
    namespaces: dict[str, list[Listed]] = {}
    for row in rows:
        namespaces.setdefault(row.namespace, []).append(row)
    return Listing(
        rows,
        {row.key: row for row in rows},
        {name: tuple(members) for name, members in namespaces.items()},
        sum(row.row.new for row in rows),
    )


def _listed(row: ReferenceRow) -> Listed:
    blocking = [problem for problem in row.problems if problem.get("level") == "error"]
    warnings = [problem for problem in row.problems if problem.get("level") == "warning"]
    return Listed(
        key=str(row.identity),
        row=row,
        must=tuple(c.name for c in row.columns if needs_choice(c)),
        text=tuple(c.name for c in row.columns if c.text_by_default),
        blocked=" ".join(_reason(problem) for problem in blocking),
        warnings=tuple(_reason(problem) for problem in warnings),
        words=f"{row.namespace} {row.name}".lower(),
        column_words=" ".join(column.name for column in row.columns).lower(),
    )


def needs_choice(column: ReferenceColumnRow) -> bool:
    """Neither a native type nor a faithful text form."""
    return not column.native and not column.text_by_default


def _reason(problem: dict[str, str]) -> str:
    return ". ".join(part for part in (problem.get("summary"), problem.get("fix")) if part)
