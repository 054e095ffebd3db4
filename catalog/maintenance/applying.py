"""When a replacement, or an earlier version, can take its view's place."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from catalog.errors import StatementError
from catalog.models import ViewProgress
from catalog.plan.picture import Entry
from catalog.planes import plane_of
from ingest import engine
from ingest.contract.commands import Input, Segment
from ingest.errors import Transient

POLL = 0.05
HOLD = 3.0
"""Seconds that a view is held where it is while another comes up to it; renewed while waiting."""
ALIGNED = 3.0
"""Seconds to wait for a time at which both have rows of their own; any time will do then."""
LONGEST = 60.0
"""Seconds that a view is held in all: its readers wait meanwhile."""

CATCHING_UP = 20.0
"""Seconds that an apply waits for its view to come to what was read of it."""


@dataclass(frozen=True)
class _Pair:
    old: ViewProgress | None
    new: ViewProgress | None


def switch_time(
    region: str, target: Entry, after: Entry, timeout: float | None, seen: int = 0
) -> int:
    """The time (ms) from which `target` can be what it is in `after`: the next one after all that
    its data is complete through, once the other data is as far.

    Somebody may have been answered at `seen`, from the view's definition where its data was late:
    that stays as it was, so the data comes up to there first. Holds the view there for a moment,
    and waits up to `timeout` seconds while the other lags.
    Raises StatementError 55000 when the other has no rows yet or cannot go on, Transient 57014
    when the wait was too long.
    """
    started = clock.monotonic()
    while True:
        pair = _pair(region, target.shard, after.shard)
        new = _ready(after, pair.new)
        mine = _through(pair.old)
        waited = clock.monotonic() - started
        if mine < seen and waited < CATCHING_UP and not _stalled(pair.old):
            pass
        elif new.complete_through < mine:
            if waited < LONGEST:
                _hold(target.shard)
        elif waited > ALIGNED or _exact(region, after, new, mine):
            _hold(target.shard)
            if _through(_pair(region, target.shard, after.shard).old) == mine:
                return max(mine + 1, new.readable_from)
        if waited > (timeout or float("inf")):
            raise _late(target, mine, new.complete_through)
        clock.sleep(POLL)


def _stalled(row: ViewProgress | None) -> bool:
    return row is None or not row.hydrated or row.status == "stalled"


def _through(row: ViewProgress | None) -> int:
    return row.complete_through if row is not None and row.hydrated else 0


def _exact(region: str, after: Entry, new: ViewProgress, time: int) -> bool:
    """Whether the data that comes has rows of its own where the data that goes ends, so that
    what changes is the difference of the two at one time."""
    if new.complete_through == time:
        return True
    segments = (Segment(after.shard, 0),)
    source = Input(after.id, after.shard, after.relation, segments=segments)
    return engine.view_exact(plane_of(region), source, time, new.complete_through)


def _pair(region: str, old: str, new: str) -> _Pair:
    rows = ViewProgress.objects.filter(item__region__name=region, shard__in=(old, new))
    found = {row.shard: row for row in rows}
    return _Pair(found.get(old), found.get(new))


def _hold(shard: str) -> None:
    until = timezone.now() + timedelta(seconds=HOLD)
    ViewProgress.objects.filter(shard=shard).update(held_until=until)


def _ready(entry: Entry, row: ViewProgress | None) -> ViewProgress:
    """The row of data that may be switched to; raises StatementError 55000 for what may not."""
    start = f"cannot apply replacement to materialized view {entry.name}"
    if row is None or not row.hydrated:
        share = row.percent if row is not None else 0
        says = row.error if row is not None and row.error else f"hydrating {min(99, share)}%"
        if row is not None and row.cancelled:
            says = "its hydration was cancelled"
        message = f"{start}: it is not hydrated yet"
        raise StatementError(
            message,
            detail=f"Its state: {says}.",
            hint="Try again when it is hydrated; mz_internal.mz_hydration_statuses says so.",
            sqlstate="55000",
        )
    if row.status == "stalled" and row.error:
        message = f"{start}: it cannot go on"
        raise StatementError(
            message,
            detail=f"Its state: {row.error}.",
            hint=row.hint or "Drop it, or change the rows that its query fails on.",
            sqlstate="55000",
        )
    return row


def _late(entry: Entry, mine: int, other: int) -> Transient:
    return Transient(
        "canceling statement due to statement timeout",
        detail=f'Materialized view "{entry.name}" is complete through {mine}, what is to take its '
        f"place through {other}.",
        hint="Try again, or SET statement_timeout to wait longer.",
        sqlstate="57014",
    )
