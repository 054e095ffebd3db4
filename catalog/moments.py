"""Which time a query reads at: the newest at which every input is complete."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from dataclasses import dataclass

from catalog.errors import InvalidStatement, StatementError
from catalog.models import ExportProgress, FeedProgress
from catalog.oracle import newest_time
from catalog.plan.picture import Entry, Picture
from ingest.errors import Terminal, Transient

POLL = 0.05
PATIENCE = 10.0
"""Seconds that a query waits for a table's first snapshot before it says how far that is."""


@dataclass(frozen=True)
class Wanted:
    """What the session asks for: `at_least` is what it has seen, `as_of` an exact time (ms)."""

    at_least: int = 0
    as_of: int | None = None
    timeout: float | None = 60.0


@dataclass(frozen=True)
class Bounds:
    """What inputs allow: readable from `since` (ms) through `through`; 0 is not yet."""

    since: int
    through: int
    waiting: tuple[str, ...] = ()


def moment(region: str, picture: Picture, inputs: Iterable[Entry], wanted: Wanted) -> int:
    """The mz_timestamp to read the inputs at; waits until there is one.

    Raises Transient for a table without its snapshot or a feed that stands still for too long,
    Terminal for a table that has failed, InvalidStatement for a time that cannot be read.
    """
    tables = [entry for entry in inputs if entry.kind == "table" and entry.table.source]
    started = clock.monotonic()
    limit = wanted.timeout or float("inf")
    while True:
        bounds = _bounds(region, picture, tables)
        chosen = _choose(region, bounds, wanted)
        if chosen is not None:
            return chosen
        waited = clock.monotonic() - started
        if waited > (min(limit, PATIENCE) if bounds.waiting else limit):
            raise _late(bounds, wanted)
        clock.sleep(POLL)


def _choose(region: str, bounds: Bounds, wanted: Wanted) -> int | None:
    if wanted.as_of is not None:
        return _exact(region, bounds, wanted)
    if bounds.waiting:
        return None
    through = bounds.through or max(newest_time(region), wanted.at_least)
    return through if through >= max(bounds.since, wanted.at_least) else None


def _exact(region: str, bounds: Bounds, wanted: Wanted) -> int | None:
    time = wanted.as_of or 0
    if not bounds.waiting and time < bounds.since:
        message = f"Timestamp ({time}) is not valid for all inputs: [{bounds.since}]"
        hint = f"The oldest readable timestamp is {bounds.since}."
        raise InvalidStatement(message, hint=hint, sqlstate="22023")
    newest = max(newest_time(region), clock.time_ns() // 1_000_000)
    if time > newest + int((wanted.timeout or 0) * 1000):
        message = f"timestamp {time} is in the future"
        detail = f"The newest timestamp is {newest}."
        raise InvalidStatement(message, detail=detail)
    through = bounds.through or newest
    return time if not bounds.waiting and time <= through else None


def _late(bounds: Bounds, wanted: Wanted) -> Transient:
    if bounds.waiting:
        return Transient(
            bounds.waiting[0],
            hint="Try again when its snapshot is complete; its page shows the progress.",
            sqlstate="55000",
        )
    target = wanted.as_of or wanted.at_least
    return Transient(
        "canceling statement due to statement timeout",
        detail=f"The inputs are complete through {bounds.through}, and {target} was asked for.",
        hint="A source of the query stands still: look at its status. SET transaction_isolation "
        "= 'serializable' reads what is there.",
        sqlstate="57014",
    )


def _bounds(region: str, picture: Picture, tables: list[Entry]) -> Bounds:
    if not tables:
        return Bounds(0, 0)
    since, waiting = _exports(region, tables)
    feeds = {picture.entries[table.table.source].source.feed for table in tables}
    rows = FeedProgress.objects.filter(feed__region__name=region, feed__gid__in=feeds)
    through = dict(rows.values_list("feed__gid", "complete_through"))
    return Bounds(since, min((through.get(feed, 0) for feed in feeds), default=0), waiting)


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
