"""Materialized views and their replacements, as pages and REST resources show them."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import QuerySet

from catalog.here import region_here
from catalog.models import Comment, ItemColumn, ViewDetails, ViewProgress, ViewVersion
from catalog.reads.item_rows import item_row
from catalog.reads.rows import ColumnRow, ItemRow, StatusRow


@dataclass(frozen=True)
class StagedRow:
    """What a replacement would change at `as_of` (ms): rows, and bytes of them as JSON."""

    added: int
    removed: int
    changed: int
    bytes: int
    as_of: int


@dataclass(frozen=True)
class ViewRow:
    """A materialized view; `target` is set for a replacement, whose `staged` is None until it
    was counted. Times in ms, 0 not yet; `rows` and `bytes` -1 unknown; `rate` in rows a second.
    `how` is incremental or recompute, with a `reason`; `guard` as in `Guard`, empty when a person
    applies it; `options` as in `catalog.plan.view_options`; `comments` by column, 0 the view."""

    item: ItemRow
    target: ItemRow | None
    cluster: str
    columns: tuple[ColumnRow, ...]
    key: tuple[str, ...]
    status: StatusRow
    hydrated: bool
    sealed: bool
    readable_from: int
    complete_through: int
    rows: int
    bytes: int
    percent: int
    rate: float
    how: str
    reason: str
    cancelled: bool
    staged: StagedRow | None = None
    options: dict[str, str] = field(default_factory=dict)
    guard: dict[str, Any] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VersionRow:
    """One definition of a view: in force from `since` to `until` (ms, 0 still).

    `event`: created, applied or undone. `shard` is empty when its data is gone. `undo`: ROLLBACK
    REPLACEMENT brings it back, until `expires_at`.
    """

    number: int
    shard: str
    since: int
    until: int
    create_sql: str
    columns: tuple[ColumnRow, ...]
    event: str
    replacement: str
    replacement_name: str
    user: str
    made_at: dt.datetime
    expires_at: dt.datetime | None
    undo: bool = False


def views(search: str = "", region: str | None = None) -> tuple[ViewRow, ...]:
    """Every materialized view that is no replacement, oldest first."""
    found = _details(region).filter(target__isnull=True)
    return _views(found.filter(item__name__icontains=search) if search else found)


def view(item_id: str, region: str | None = None) -> ViewRow | None:
    """One materialized view or replacement, None when it is not there."""
    return next(iter(_views(_details(region).filter(item__gid=item_id))), None)


def replacements(target_id: str = "", region: str | None = None) -> tuple[ViewRow, ...]:
    """Every replacement, or those of one view, oldest first."""
    found = _details(region).filter(target__isnull=False)
    return _views(found.filter(target__gid=target_id) if target_id else found)


def versions(item_id: str, region: str | None = None) -> tuple[VersionRow, ...]:
    """A view's definitions, the newest first."""
    rows = ViewVersion.objects.filter(
        item__region__name=region or region_here(), item__gid=item_id
    )
    history = [_version(row) for row in rows.order_by("number")]
    back = _undone_by([version.shard for version in history])
    if back is not None and history[back].shard:
        history[back] = replace(history[back], undo=True)
    return tuple(reversed(history))


def _undone_by(shards: list[str]) -> int | None:
    """The place of the version before the one whose data is in force now."""
    first = shards.index(shards[-1]) if shards else 0
    return first - 1 if first else None


def _details(region: str | None) -> QuerySet[ViewDetails]:
    return ViewDetails.objects.filter(item__region__name=region or region_here()).order_by("pk")


_PARTS = ("schema__database", "owner")


def _views(details: QuerySet[ViewDetails]) -> tuple[ViewRow, ...]:
    names = [f"{item}__{part}" for item in ("item", "target") for part in _PARTS]
    rows = list(details.select_related(*names))
    ids = [row.pk for row in rows]
    progress = {(row.item_id, row.shard): row for row in _of(ViewProgress, ids)}
    columns: dict[int, list[ColumnRow]] = defaultdict(list)
    for column in _of(ItemColumn, ids).order_by("item_id", "position"):
        columns[column.item_id].append(
            ColumnRow(column.name, column.type, column.nullable, column.position)
        )
    comments: dict[int, dict[int, str]] = defaultdict(dict)
    for comment in _of(Comment, ids):
        comments[comment.item_id][comment.column] = comment.text
    return tuple(
        replace(
            _view(row, progress.get((row.pk, row.item.shard)), tuple(columns[row.pk])),
            comments=comments[row.pk],
        )
        for row in rows
    )


def _of(model: Any, ids: list[int]) -> Any:
    return model.objects.filter(item__in=ids)


def _view(row: ViewDetails, at: ViewProgress | None, columns: tuple[ColumnRow, ...]) -> ViewRow:
    progress = at or ViewProgress()
    return ViewRow(
        item=item_row(row.item),
        target=None if row.target is None else item_row(row.target),
        cluster=row.cluster,
        columns=columns,
        key=tuple(row.key),
        status=StatusRow(
            row.item.gid,
            progress.status,
            progress.error,
            progress.detail,
            progress.hint,
            progress.changed_at or row.item.created_at,
        ),
        sealed=row.sealed,
        options=dict(row.options),
        guard=dict(row.guard),
        staged=_staged(progress),
        **{name: getattr(progress, name) for name in _COPIED},
    )


_COPIED = (
    "hydrated",
    "readable_from",
    "complete_through",
    "rows",
    "bytes",
    "percent",
    "rate",
    "how",
    "reason",
    "cancelled",
)


def _staged(progress: ViewProgress) -> StagedRow | None:
    if progress.staged_added < 0:
        return None
    return StagedRow(
        progress.staged_added,
        progress.staged_removed,
        progress.staged_changed,
        progress.staged_bytes,
        progress.staged_as_of,
    )


def _version(row: ViewVersion) -> VersionRow:
    columns = tuple(
        ColumnRow(column["name"], column["type"], column["nullable"], position)
        for position, column in enumerate(row.columns, start=1)
    )
    return VersionRow(
        row.number,
        row.shard,
        row.since,
        row.until,
        row.create_sql,
        columns,
        row.event,
        row.replacement,
        row.replacement_name,
        row.user,
        row.made_at,
        row.expires_at,
    )
