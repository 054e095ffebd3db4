"""What needs a person, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.reads import SourceRow, TableRow

_SHOWN = 20
_SAID = {"failed": "failed", "stalled": "is stalled"}


@dataclass(frozen=True)
class Attention:
    """One thing to look at: `level` is bad, warn or info."""

    level: str
    title: str
    text: str
    hint: str
    path: str


def of_catalog(sources: Sequence[SourceRow], tables: Sequence[TableRow]) -> list[Attention]:
    """Failed and stalled sources and tables, quarantined rows, drift, sources without tables."""
    found = [item for source in sources for item in _of_source(source)]
    found += [item for table in tables for item in _of_table(table)]
    rank = {"bad": 0, "warn": 1, "info": 2}
    return sorted(found, key=lambda item: rank[item.level])[:_SHOWN]


def _of_source(source: SourceRow) -> list[Attention]:
    path, name, status = f"/sources/{source.item.id}", source.item.name, source.status
    if status.status in {"failed", "stalled"}:
        level = "bad" if status.status == "failed" else "warn"
        title = f"Source {name} {_SAID[status.status]}"
        return [Attention(level, title, status.error, status.hint, path)]
    if not source.tables:
        text = "It makes no table by itself: choose which upstream tables to bring in."
        path = f"/sources/new/tables?source={source.item.id}"
        return [Attention("info", f"Source {name} has no tables yet", text, "", path)]
    return []


def _of_table(table: TableRow) -> list[Attention]:
    path, name, status = f"/tables/{table.item.id}", table.item.name, table.status
    found = []
    if status.status in {"failed", "stalled"}:
        level = "bad" if status.status == "failed" else "warn"
        title = f"Table {name} {_SAID[status.status]}"
        found.append(Attention(level, title, status.error, status.hint, path))
    if table.quarantined:
        title = f"Table {name} has quarantined rows"
        text = f"{table.quarantined:,} values do not fit the column's type."
        found.append(Attention("warn", title, text, "Read the column as text instead.", path))
    if table.drift:
        text = "; ".join(table.drift[:3])
        title = f"{table.namespace}.{table.reference} has changed upstream"
        found.append(Attention("info", title, text, "", f"{path}?tab=columns"))
    return found
