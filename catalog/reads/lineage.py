"""Where an item's rows come from and where they go, item by item and column by column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from catalog.here import region_here
from catalog.models import Dependency, Item, ItemColumn, ViewDetails
from catalog.query.origins import Path, origins
from catalog.reads.rows import ItemRow
from catalog.sql import parse_one
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.nodes.view import CreateView
from ingest.errors import HeadraceError

_DATA = ("source", "table", "view", "materialized view")


@dataclass(frozen=True)
class LineageItem:
    """An item of the graph with its columns' names. `distance` is 0 for the item asked about,
    negative for what it reads, positive for what reads it. `target` is the id of the view that a
    replacement is for, else empty. `traced`: its columns' origins are known."""

    item: ItemRow
    columns: tuple[str, ...]
    distance: int
    target: str = ""
    traced: bool = True


@dataclass(frozen=True)
class ColumnEdge:
    """A column that a value of another column is made from; items by id."""

    item: str
    column: str
    into: str
    into_column: str


@dataclass(frozen=True)
class Lineage:
    """Items; pairs of ids, what is read first; and columns the same way."""

    items: tuple[LineageItem, ...]
    edges: tuple[tuple[str, str], ...]
    columns: tuple[ColumnEdge, ...]


@dataclass(frozen=True)
class Near:
    """What an item reads itself, and what reads it; a replacement's target is neither."""

    inputs: tuple[ItemRow, ...]
    readers: tuple[ItemRow, ...]


def near(item_id: str, region: str | None = None) -> Near:
    """The item's neighbours, oldest first. Three queries."""
    region = region or region_here()
    found = Item.objects.filter(region__name=region, kind__in=_DATA).order_by("pk")
    target = ViewDetails.objects.filter(item__gid=item_id, item__region__name=region)
    pending = ViewDetails.objects.filter(target__gid=item_id, item__region__name=region)
    inputs = found.filter(needed_by__item__gid=item_id).exclude(
        pk__in=target.filter(target__isnull=False).values("target")
    )
    readers = found.filter(needs__needs__gid=item_id).exclude(pk__in=pending.values("item"))
    return Near(_rows(inputs), _rows(readers))


def lineage(item_id: str, region: str | None = None) -> Lineage | None:
    """Everything up- and downstream of an item; None when it is not there. Seven queries."""
    region = region or region_here()
    items = _items(region)
    if item_id not in items:
        return None
    edges = _edges(region, items)
    distances = _distances(item_id, edges)
    kept = {gid: row for gid, row in items.items() if gid in distances}
    names = _columns(region, kept)
    targets = dict(
        ViewDetails.objects.filter(item__region__name=region, target__isnull=False).values_list(
            "item__gid", "target__gid"
        )
    )
    traced = _traced(kept, names)
    return Lineage(
        tuple(
            LineageItem(
                row,
                names.get(gid, ()),
                distances[gid],
                targets.get(gid, ""),
                traced[gid] is not None,
            )
            for gid, row in kept.items()
        ),
        tuple((a, b) for a, b in edges if a in kept and b in kept),
        tuple(edge for found in traced.values() for edge in found or ()),
    )


def _items(region: str) -> dict[str, ItemRow]:
    found = Item.objects.filter(region__name=region, kind__in=_DATA).order_by("pk")
    return {row.id: row for row in _rows(found)}


_ITEM = (
    "gid",
    "kind",
    "schema__database__name",
    "schema__name",
    "name",
    "owner__name",
    "created_at",
    "create_sql",
    "create_sql",
)


def _rows(found: QuerySet[Item]) -> tuple[ItemRow, ...]:
    return tuple(ItemRow(*row) for row in found.values_list(*_ITEM))


_Edges = list[tuple[str, str]]


def _edges(region: str, items: Mapping[str, ItemRow]) -> _Edges:
    rows = Dependency.objects.filter(item__region__name=region).order_by("pk")
    found = rows.values_list("needs__gid", "item__gid")
    return [(used, by) for used, by in found if used in items and by in items]


def _distances(start: str, edges: _Edges) -> dict[str, int]:
    up: dict[str, list[str]] = defaultdict(list)
    down: dict[str, list[str]] = defaultdict(list)
    for used, by in edges:
        up[by].append(used)
        down[used].append(by)
    return {**_reach(start, up, -1), **_reach(start, down, 1), start: 0}


def _reach(start: str, next_: Mapping[str, list[str]], step: int) -> dict[str, int]:
    found = {start: 0}
    level = [start]
    while level:
        following = [o for name in level for o in next_.get(name, ()) if o not in found]
        found |= dict.fromkeys(following, found[level[0]] + step)
        level = list(dict.fromkeys(following))
    return found


def _columns(region: str, items: Iterable[str]) -> dict[str, tuple[str, ...]]:
    rows = ItemColumn.objects.filter(item__region__name=region, item__gid__in=list(items))
    found: dict[str, list[str]] = defaultdict(list)
    for gid, name in rows.order_by("item_id", "position").values_list("item__gid", "name"):
        found[gid].append(name)
    return {gid: tuple(names) for gid, names in found.items()}


def _traced(
    items: Mapping[str, ItemRow], names: Mapping[str, tuple[str, ...]]
) -> dict[str, list[ColumnEdge] | None]:
    """The columns that each view's are made from; None where that cannot be told."""
    by_path: dict[Path, str] = {
        (row.database, row.schema, row.name): gid for gid, row in items.items()
    }
    relations: dict[Path, tuple[str, ...]] = {
        path: names.get(gid, ()) for path, gid in by_path.items()
    }
    return {
        gid: _of_view(row, names.get(gid, ()), relations, by_path)
        if row.kind in {"view", "materialized view"}
        else []
        for gid, row in items.items()
    }


def _of_view(
    row: ItemRow,
    columns: tuple[str, ...],
    relations: Mapping[Path, tuple[str, ...]],
    by_path: Mapping[Path, str],
) -> list[ColumnEdge] | None:
    try:
        statement = parse_one(row.create_sql).statement
    except HeadraceError:
        return None
    if not isinstance(statement, CreateView | CreateMaterializedView | CreateReplacement):
        return None
    found = origins(statement.query, relations)
    if found is None:
        return None
    return [
        ColumnEdge(by_path[path], column, row.id, into)
        for into, made_from in zip(columns, found, strict=False)
        for path, column in sorted(made_from)
        if path in by_path
    ]
