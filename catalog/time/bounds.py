"""What inputs allow: from which time on, and through which, each of them can be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from catalog.errors import StatementError
from catalog.models import ExportProgress, FeedProgress, ViewProgress, ViewVersion
from catalog.plan.picture import Entry, Picture
from catalog.time import closing
from ingest.contract.commands import Segment
from ingest.errors import Terminal

DATA_ERRORS = {"21", "22", "23", "54"}
"""Classes of SQLSTATE that a view's own query raises over its rows."""


@dataclass(frozen=True)
class ViewBounds:
    """A maintained view is readable from `since` (ms) through `through`; both are 0 before its
    hydration, of which `waiting` says how far it is. `replaced`: its shard is not in force any
    more, so that it will not be readable later than that."""

    since: int = 0
    through: int = 0
    waiting: str = ""
    replaced: bool = False
    error: StatementError | None = None


@dataclass(frozen=True)
class Bounds:
    """Readable from `since` (ms) through `through`, None where nothing but the clock bounds it.

    `told`: writes to plain tables that their writers know of. `waiting` says what is not readable
    yet. `views` are the maintained views among the inputs, by id.
    """

    since: int = 0
    through: int | None = None
    told: int = 0
    waiting: tuple[str, ...] = ()
    views: dict[str, ViewBounds] = field(default_factory=dict)

    @property
    def late(self) -> frozenset[str]:
        """The views that alone keep `through` from being later."""
        behind = {item for item, view in self.views.items() if view.through == self.through}
        return frozenset(behind)


def bounds(region: str, picture: Picture, inputs: Iterable[Entry]) -> Bounds:
    """What the inputs allow together.

    Raises Terminal for a table that has failed, StatementError for one that was dropped.
    """
    entries = list(inputs)
    fed = [entry for entry in entries if entry.fed]
    kept = [entry for entry in entries if entry.kind == "materialized view"]
    plain = [entry.id for entry in entries if entry.kind == "table" and not entry.table.source]
    since, waiting = _exports(region, fed) if fed else (0, ())
    ends: list[int] = []
    if fed:
        feeds = {picture.entries[table.table.source].source.feed for table in fed}
        through = fed_through(region, feeds)
        ends += [through.get(feed, 0) for feed in feeds]
    views = view_bounds(region, kept) if kept else {}
    sealed = {entry.id for entry in kept if entry.view.sealed}
    ends += [found.through for item, found in views.items() if item not in sealed]
    told = 0
    under = plain_under(picture, entries)
    if under:
        told = closing.closed(region, under).told
    if plain:
        ends.append(closing.closed(region, plain).through)
    since = max([since, *(found.since for found in views.values())])
    says = (*waiting, *(found.waiting for found in views.values() if found.waiting))
    return Bounds(since, min(ends, default=None), told, says, views)


def fed_through(region: str, feeds: Iterable[str]) -> dict[str, int]:
    """Through which time (ms) each feed's log is complete."""
    rows = FeedProgress.objects.filter(feed__region__name=region, feed__gid__in=tuple(feeds))
    return dict(rows.values_list("feed__gid", "complete_through"))


def plain_under(picture: Picture, entries: Iterable[Entry]) -> set[str]:
    """Ids of the plain tables that the entries are or are made from."""
    found: set[str] = set()
    seen: set[str] = set()
    stack = list(entries)
    while stack:
        entry = stack.pop()
        if entry.id in seen:
            continue
        seen.add(entry.id)
        if entry.kind == "table" and not entry.table.source:
            found.add(entry.id)
        elif entry.kind in {"view", "materialized view"}:
            stack += [picture.entries[other] for other in entry.needs if other in picture.entries]
    return found


def view_bounds(region: str, entries: Iterable[Entry]) -> dict[str, ViewBounds]:
    """Each maintained view's bounds, by id."""
    views = list(entries)
    oldest = {view.id: _oldest(view) for view in views}
    shards = {view.shard for view in views} | set(oldest.values())
    rows = {row.shard: row for row in ViewProgress.objects.filter(shard__in=shards)}
    until = _replaced(region, views)
    return {
        view.id: _view(
            view, rows.get(view.shard), rows.get(oldest[view.id]), until.get(view.id, 0)
        )
        for view in views
    }


def _replaced(region: str, views: list[Entry]) -> dict[str, int]:
    """When (ms) the definitions that the caller knows were replaced, where they were; by id.

    Data that an undo put in force again belongs to several versions: only the number tells.
    """
    numbers = {view.id: view.view.version for view in views}
    rows = ViewVersion.objects.filter(
        item__region__name=region,
        item__gid__in=numbers,
        number__in=set(numbers.values()),
        until__gt=0,
    )
    found = rows.values_list("item__gid", "number", "until")
    return {item: until for item, number, until in found if numbers[item] == number}


def replaced_through(segments: Iterable[Segment], time: int) -> int:
    """Through which time (ms) the data is complete that was a view's at `time`."""
    shards = [one.shard for one in segments if one.since <= time]
    rows = ViewProgress.objects.filter(shard__in=shards[-1:])
    return rows.values_list("complete_through", flat=True).first() or 0


def _oldest(view: Entry) -> str:
    segments = view.view.segments
    return segments[0].shard if segments else view.shard


def _view(
    entry: Entry, row: ViewProgress | None, first: ViewProgress | None, end: int
) -> ViewBounds:
    if row is None or not row.hydrated:
        return ViewBounds(waiting=_hydrating(entry, row), error=_error(row))
    segments = entry.view.segments
    since = segments[0].since if segments else 0
    since = max(since, first.readable_from if first is not None else row.readable_from)
    through = min(row.complete_through, end - 1) if end else row.complete_through
    return ViewBounds(since, through, replaced=bool(end), error=_error(row))


def _error(row: ViewProgress | None) -> StatementError | None:
    if row is None or row.sqlstate[:2] not in DATA_ERRORS:
        return None
    return StatementError(
        row.error, detail=row.detail or None, hint=row.hint or None, sqlstate=row.sqlstate
    )


def _hydrating(entry: Entry, row: ViewProgress | None) -> str:
    start = f'materialized view "{entry.name}" is not readable yet'
    if row is None:
        return f"{start}: created"
    if row.cancelled:
        return f"{start}: its hydration was cancelled"
    if row.status == "starting":
        return f"{start}: hydrating {min(99, row.percent)}%"
    return f"{start}: {row.error or row.reason or row.status}"


def _exports(region: str, tables: list[Entry]) -> tuple[int, tuple[str, ...]]:
    gids = {table.id: table for table in tables}
    rows = ExportProgress.objects.filter(item__region__name=region, item__gid__in=gids)
    since = 0
    waiting: list[str] = []
    found = dict(rows.values_list("item__gid", "pk"))
    for gid, table in gids.items():
        if gid not in found:
            message = f'table "{table.name}" was dropped'
            raise StatementError(message, sqlstate="42P01")
    for row in rows.select_related("item"):
        table = gids[row.item.gid]
        if row.status == "failed":
            message = f'table "{table.name}" has failed: {row.error}'
            raise Terminal(
                message,
                detail=row.detail or None,
                hint=row.hint or "Create a new table on the same reference, then drop this one.",
            )
        if row.readable_from == 0:
            waiting.append(_waiting(table, row))
        since = max(since, row.readable_from)
    return since, tuple(waiting)


def _waiting(table: Entry, row: ExportProgress) -> str:
    if row.status == "stalled":
        return f'table "{table.name}" is not readable yet: {row.error or "stalled"}'
    if row.rows_known > 0:
        share = min(99, 100 * row.rows_staged // row.rows_known)
        rows = f"{row.rows_staged} of {row.rows_known} rows"
        return f'table "{table.name}" is not readable yet: snapshot {share}% ({rows})'
    return f'table "{table.name}" is not readable yet: {row.phase}'
