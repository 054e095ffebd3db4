"""What needs a person, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.reads import SourceRow, TableRow, ViewRow
from console.fragments import keeping

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


def of_catalog(
    sources: Sequence[SourceRow], tables: Sequence[TableRow], views: Sequence[ViewRow] = ()
) -> list[Attention]:
    """Failed and stalled sources, tables and views, quarantined rows, drift, sources without
    tables, replacements that wait for a person."""
    found = [item for source in sources for item in _of_source(source)]
    found += [item for table in tables for item in _of_table(table)]
    found += [item for view in views for item in _of_view(view)]
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


def _of_view(view: ViewRow) -> list[Attention]:
    place = "views" if view.target is None else "replacements"
    path, name, status = f"/{place}/{view.item.id}", view.item.name, view.status
    kind = "View" if view.target is None else "Replacement"
    word = keeping.state(view)
    if word in {"failed", "stalled"}:
        level = "bad" if word == "failed" else "warn"
        title = f"{kind} {name} {_SAID[word]}"
        return [Attention(level, title, status.error, status.hint, path)]
    if word == "paused":
        text = "Its first computation was stopped. It has no rows until it is resumed."
        return [Attention("warn", f"{kind} {name} has no rows yet", text, "", path)]
    if view.target is not None and view.staged is not None and not view.guard:
        staged = view.staged
        text = (
            f"It would add {staged.added:,} rows to {view.target.name}, remove {staged.removed:,} "
            f"and change {staged.changed:,}."
        )
        return [Attention("info", f"Replacement {name} waits for you", text, "", path)]
    if view.target is not None and view.guard and status.detail:
        return [Attention("info", f"Replacement {name} waits for you", status.detail, "", path)]
    return []
