"""What pages and REST resources show: frozen rows, selected by name or id, never models.

Every function takes the region's name (default: the installation's). Names are fully qualified as
`database.schema.item` tuples. Times are mz_timestamps in ms or aware datetimes. A handful of
queries per call, whatever the number of rows.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from catalog.drift import drift_of
from catalog.here import region_here
from catalog.models import (
    AuditEvent,
    ExportProgress,
    Feed,
    Item,
    ItemColumn,
    SourceDetails,
    SourceReference,
    StatusHistory,
    TableDetails,
)
from catalog.reads.item_rows import item_row
from catalog.reads.rows import AuditRow as AuditRow
from catalog.reads.rows import ColumnRow as ColumnRow
from catalog.reads.rows import FeedRow as FeedRow
from catalog.reads.rows import ItemRow as ItemRow
from catalog.reads.rows import OverviewRow as OverviewRow
from catalog.reads.rows import ReferenceColumnRow as ReferenceColumnRow
from catalog.reads.rows import ReferenceRow as ReferenceRow
from catalog.reads.rows import SourceRow as SourceRow
from catalog.reads.rows import StatusRow as StatusRow
from catalog.reads.rows import TableRow as TableRow
from catalog.reads.views import StagedRow as StagedRow
from catalog.reads.views import VersionRow as VersionRow
from catalog.reads.views import ViewRow as ViewRow


def _region(region: str | None) -> str:
    return region or region_here()


def _items(region: str | None) -> QuerySet[Item]:
    rows = Item.objects.filter(region__name=_region(region)).order_by("pk")
    return rows.select_related("schema__database", "owner")


def items(kind: str | None = None, region: str | None = None) -> tuple[ItemRow, ...]:
    """Every item, or those of one kind, oldest first."""
    rows = _items(region)
    return tuple(item_row(row) for row in (rows.filter(kind=kind) if kind else rows))


def item(item_id: str, region: str | None = None) -> ItemRow | None:
    """One item of any kind, None when it is not there."""
    row = _items(region).filter(gid=item_id).first()
    return None if row is None else item_row(row)


def connections(region: str | None = None) -> tuple[ItemRow, ...]:
    """Every connection."""
    return items("connection", region)


def secrets(region: str | None = None) -> tuple[ItemRow, ...]:
    """Every secret; never its value."""
    return items("secret", region)


def dependents(item_id: str, region: str | None = None) -> tuple[ItemRow, ...]:
    """Everything that would go with the item under CASCADE, nearest first."""
    found: dict[int, Item] = {}
    level = list(_items(region).filter(gid=item_id))
    while level:
        needing = _items(region).filter(needs__needs__in=[row.pk for row in level]).distinct()
        level = [row for row in needing if row.pk not in found]
        found.update({row.pk: row for row in level})
    return tuple(item_row(row) for row in found.values())


def feeds(region: str | None = None) -> tuple[FeedRow, ...]:
    """Every feed, with the sources that share it."""
    return tuple(_feeds(region).values())


def _feeds(region: str | None) -> dict[str, FeedRow]:
    sharing: dict[int, list[str]] = defaultdict(list)
    details = SourceDetails.objects.filter(item__region__name=_region(region))
    for feed, gid in details.order_by("pk").values_list("feed_id", "item__gid"):
        sharing[feed].append(gid)
    rows = Feed.objects.filter(region__name=_region(region)).select_related("progress")
    return {row.gid: _feed(row, tuple(sharing[row.pk])) for row in rows.order_by("pk")}


def _feed(row: Feed, sources: tuple[str, ...]) -> FeedRow:
    progress = row.progress
    return FeedRow(
        id=row.gid,
        slot=row.slot,
        status=progress.status,
        complete_through=progress.complete_through,
        upto=progress.upto,
        upstream=progress.upstream,
        retained_bytes=progress.retained_bytes,
        messages=progress.messages,
        bytes=progress.bytes,
        sources=sources,
        reported_at=progress.reported_at,
    )


def sources(region: str | None = None) -> tuple[SourceRow, ...]:
    """Every source, oldest first, in a handful of queries."""
    return _sources(region, None)


def source(source_id: str, region: str | None = None) -> SourceRow | None:
    """One source, None when it is not there."""
    return next(iter(_sources(region, source_id)), None)


_SOURCE_ITEMS = ("item", "connection")


def _sources(region: str | None, source_id: str | None) -> tuple[SourceRow, ...]:
    details = SourceDetails.objects.filter(item__region__name=_region(region)).order_by("pk")
    details = details.filter(item__kind=Item.Kind.SOURCE)
    if source_id is not None:
        details = details.filter(item__gid=source_id)
    related = [
        f"{name}__{part}" for name in _SOURCE_ITEMS for part in ("schema__database", "owner")
    ]
    rows = list(details.select_related(*related, "feed__progress"))
    ids = [row.pk for row in rows]
    tables = _count(TableDetails.objects.filter(source__in=ids), "source")
    references = _count(SourceReference.objects.filter(source__in=ids), "source")
    shared = _feeds(region)
    return tuple(
        SourceRow(
            item=item_row(row.item),
            type=row.type,
            connection=item_row(row.connection) if row.connection else None,
            publication=row.publication,
            status=_source_status(row),
            tables=tables.get(row.pk, 0),
            references=references.get(row.pk, 0),
            references_updated_at=row.references_updated_at,
            feed=shared.get(row.feed.gid),
        )
        for row in rows
    )


def _count(rows: QuerySet[Any], by: str) -> dict[int, int]:
    return dict(rows.values_list(by).annotate(Count("pk")).order_by())


def _source_status(row: SourceDetails) -> StatusRow:
    """A source is as well as its feed."""
    progress = row.feed.progress
    return StatusRow(
        id=row.item.gid,
        status=progress.status,
        error=progress.error,
        detail=progress.detail,
        hint=progress.hint,
        changed_at=progress.changed_at or row.item.created_at,
    )


def tables(
    source_id: str | None = None, search: str | None = None, region: str | None = None
) -> tuple[TableRow, ...]:
    """Every table, those of one source, or those found by `search`; oldest first.

    A search looks in the name here and in the upstream table's, `schema.table` in both its parts.
    """
    details = TableDetails.objects.filter(item__region__name=_region(region))
    if source_id is not None:
        details = details.filter(source__gid=source_id)
    if search:
        space, _, name = search.rpartition(".")
        upstream = Q(namespace__icontains=space, reference__icontains=name)
        either = Q(item__name__icontains=search) | Q(namespace__icontains=search)
        details = details.filter(either | upstream)
    return _tables(details)


def made_from(source_id: str, region: str | None = None) -> dict[tuple[str, str], list[str]]:
    """Names of a source's tables by the upstream table's schema and name; one query."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    rows = TableDetails.objects.filter(
        item__region__name=_region(region), source__gid=source_id
    ).order_by("pk")
    for namespace, reference, name in rows.values_list("namespace", "reference", "item__name"):
        found[namespace, reference].append(name)
    return dict(found)


def table(table_id: str, region: str | None = None) -> TableRow | None:
    """One table, None when it is not there."""
    details = TableDetails.objects.filter(item__region__name=_region(region), item__gid=table_id)
    return next(iter(_tables(details)), None)


def _tables(details: QuerySet[TableDetails]) -> tuple[TableRow, ...]:
    rows = list(details.order_by("pk").defer("text_columns"))
    sources_ = {row.source_id for row in rows if row.source_id is not None}
    items_ = _item_rows(Item.objects.filter(table__in=details))
    items_ |= _item_rows(Item.objects.filter(pk__in=sources_))
    progress = {
        row["item_id"]: row
        for row in ExportProgress.objects.filter(item__table__in=details).values()
    }
    columns: dict[int, list[ColumnRow]] = defaultdict(list)
    found = ItemColumn.objects.filter(item__table__in=details).order_by("item_id", "position")
    fields = ("item_id", "name", "type", "nullable", "position")
    for owner, name, type_, nullable, position in found.values_list(*fields):
        columns[owner].append(ColumnRow(name, type_, nullable, position))
    references = _references_by_path(sources_, rows)
    return tuple(
        _table(row, items_, tuple(columns[row.pk]), progress[row.pk], references) for row in rows
    )


_ITEM = (
    "pk",
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


def _item_rows(rows: QuerySet[Item]) -> dict[int, ItemRow]:
    """Items by key, without a model's cost for each."""
    return {row[0]: ItemRow(*row[1:]) for row in rows.values_list(*_ITEM)}


_FEW = 400
"""Names that a query lists one by one; SQLite takes 999 parameters at least."""
_Paths = dict[tuple[int, str, str], SourceReference]


def _references_by_path(sources_: Iterable[int], tables_: list[TableDetails]) -> _Paths:
    found = SourceReference.objects.filter(source__in=list(sources_))
    names = {row.reference for row in tables_}
    if len(names) <= _FEW:
        found = found.filter(name__in=names, namespace__in={row.namespace for row in tables_})
    compared = found.only("source_id", "namespace", "name", "identity", "columns")
    return {(row.source_id, row.namespace, row.name): row for row in compared}


def _table(
    row: TableDetails,
    items_: dict[int, ItemRow],
    columns: tuple[ColumnRow, ...],
    progress: Mapping[str, Any],
    references: _Paths,
) -> TableRow:
    item_ = items_[row.pk]
    own = row.source_id == row.pk
    source_ = None if row.source_id is None or own else items_[row.source_id]
    drift: tuple[str, ...] = ()
    if row.source_id is not None and not own:
        drift = drift_of(row, references.get((row.source_id, row.namespace, row.reference)))
    changed_at = progress["changed_at"] or item_.created_at
    texts = {name: progress[name] for name in ("status", "error", "detail", "hint")}
    return TableRow(
        item=item_,
        source=source_,
        namespace=row.namespace,
        reference=row.reference,
        columns=columns,
        status=StatusRow(id=item_.id, changed_at=changed_at, **texts),
        drift=drift,
        key=tuple(row.key),
        **{name: progress[name] for name in _COUNTS},
    )


_COUNTS = (
    "phase",
    "rows_known",
    "rows_staged",
    "bytes_staged",
    "updates_committed",
    "quarantined",
    "readable_from",
)


_References = tuple[ReferenceRow, ...]
_listed: dict[tuple[str, str], tuple[object, _References]] = {}
_LISTINGS = 16


def references(source_id: str, region: str | None = None) -> _References:
    """What a source's upstream offered at the last refresh, by name.

    Kept in memory until a refresh changes it: thousands of them take a while to read.
    """
    rows = SourceReference.objects.filter(
        source__region__name=_region(region), source__gid=source_id
    ).order_by("namespace", "name")
    details = SourceDetails.objects.filter(
        item__region__name=_region(region), item__gid=source_id
    ).values_list("item_id", "item__created_at", "references_updated_at")
    seen = (details.first(), rows.aggregate(Count("pk"), Max("pk"), Max("updated_at")))
    kept = _listed.get((_region(region), source_id))
    if kept is not None and kept[0] == seen:
        return kept[1]
    made = seen[0][1] if seen[0] else None
    found = tuple(_reference(dict(row), made) for row in rows.values())
    while len(_listed) >= _LISTINGS:
        _listed.pop(next(iter(_listed)), None)
    _listed[_region(region), source_id] = (seen, found)
    return found


def _reference(row: dict[str, Any], made: dt.datetime | None) -> ReferenceRow:
    key = tuple(row["key"])
    return ReferenceRow(
        namespace=row["namespace"],
        name=row["name"],
        identity=row["identity"],
        columns=tuple(
            ReferenceColumnRow(
                column["name"],
                column["position"],
                column["type_name"],
                column["nullable"],
                column["native"] or "",
                column["text_by_default"],
                column["name"] in key,
            )
            for column in row["columns"]
        ),
        key=key,
        replica_identity=row["replica_identity"],
        rows=row["rows"],
        bytes=row["bytes"],
        new=made is not None and row["added_at"] > made and row["added_at"] == row["updated_at"],
        problems=tuple(row["problems"]),
    )


def audit(
    limit: int = 1000,
    before: int | None = None,
    object_id: str | None = None,
    region: str | None = None,
) -> tuple[AuditRow, ...]:
    """Audit events, the newest first; `before` is an id to page on from."""
    rows = AuditEvent.objects.filter(region__name=_region(region)).order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    if object_id is not None:
        rows = rows.filter(object_id=object_id)
    fields = ("number", "event", "object_type", "details", "user", "occurred_at")
    return tuple(AuditRow(*row) for row in rows.values_list(*fields)[:limit])


def status_history(
    item_id: str | None = None, limit: int = 1000, region: str | None = None
) -> tuple[StatusRow, ...]:
    """Changes of status, the newest first; a source's are its feed's."""
    rows = StatusHistory.objects.filter(region__name=_region(region)).order_by("-pk")
    if item_id is not None:
        feed = SourceDetails.objects.filter(
            item__region__name=_region(region), item__gid=item_id
        ).values_list("feed__gid", flat=True)
        rows = rows.filter(object_id__in=[item_id, *feed])
    fields = ("object_id", "status", "error", "detail", "hint", "occurred_at")
    found = (StatusRow(*row) for row in rows.values_list(*fields)[:limit])
    return tuple(found)


def overview(region: str | None = None) -> OverviewRow:
    """The catalog at a glance."""
    kinds = dict(_items(region).values_list("kind").annotate(Count("pk")).order_by())
    statuses = [
        *(row.status for row in sources(region)),
        *(row.status for row in tables(region=region)),
    ]
    return OverviewRow(
        connections=kinds.get("connection", 0),
        sources=kinds.get("source", 0),
        tables=kinds.get("table", 0),
        views=kinds.get("view", 0),
        secrets=kinds.get("secret", 0),
        attention=tuple(row for row in statuses if row.status in {"stalled", "failed"}),
    )
