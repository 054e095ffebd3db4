"""How far a source and its tables are, phase by phase, from what their feeds reported."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from catalog.reads import FeedRow, SourceRow, TableRow

PHASES = (
    ("validate", "Validate", "publication, privileges, tables"),
    ("slot", "Create slot", "a place in the upstream's log"),
    ("snapshot", "Snapshot", "copy what is there"),
    ("catch up", "Catch up", "replay changes made meanwhile"),
    ("running", "Running", "streaming changes"),
)
_ORDER = {key: number for number, (key, _, _) in enumerate(PHASES)}


@dataclass(frozen=True)
class Step:
    """One phase: `state` is done, now or todo."""

    name: str
    state: str
    note: str


@dataclass(frozen=True)
class Progress:
    """The whole source; `left` and `elapsed` are seconds, -1 unknown."""

    steps: tuple[Step, ...]
    percent: float
    rows: int
    rows_known: int
    bytes: int
    tables: int
    copying: int
    done: int
    queued: int
    failed: int
    left: int
    elapsed: int

    @property
    def finished(self) -> bool:
        """Every table that can be is live."""
        return self.done + self.failed == self.tables

    @property
    def thousandths(self) -> int:
        """For `<progress>`, which wants whole numbers."""
        return int(self.percent * 10)


def state(table: TableRow) -> str:
    """One word for a table: running, failed, stalled, snapshot, catch up or queued."""
    if table.status.status in {"failed", "stalled", "dropped", "paused"}:
        return table.status.status
    if table.phase == "running" or table.status.status == "running":
        return "running"
    if table.phase in {"snapshot", "catch up"}:
        return table.phase
    return "queued"


def percent(table: TableRow) -> int:
    """How much of the table's snapshot is here, 0 to 100; never 100 before it is readable."""
    if state(table) == "running" or table.readable_from:
        return 100
    if table.rows_known <= 0:
        return 99 if table.phase == "catch up" else 0
    return min(99, table.rows_staged * 100 // table.rows_known)


def of_source(tables: Sequence[TableRow], now: dt.datetime) -> Progress:
    """Sum over a source's tables; the earliest unfinished table decides the phase."""
    states = [state(table) for table in tables]
    moving = [
        table
        for table, word in zip(tables, states, strict=True)
        if word in {"snapshot", "catch up", "queued"}
    ]
    staged = sum(table.rows_staged for table in tables)
    known = sum(max(table.rows_known, table.rows_staged) for table in tables)
    share = 100.0 if not moving else min(99.9, 100.0 * staged / known if known else 0.0)
    elapsed = _elapsed(moving, now)
    rate = sum(table.rows_staged for table in moving) / elapsed if elapsed > 0 else 0.0
    return Progress(
        steps=_steps(moving, tables),
        percent=round(share, 1),
        rows=staged,
        rows_known=known,
        bytes=sum(table.bytes_staged for table in tables),
        tables=len(tables),
        copying=states.count("snapshot") + states.count("catch up"),
        done=states.count("running"),
        queued=states.count("queued"),
        failed=states.count("failed") + states.count("stalled"),
        left=int((known - staged) / rate) if rate and moving else -1,
        elapsed=elapsed,
    )


def _elapsed(moving: Sequence[TableRow], now: dt.datetime) -> int:
    if not moving:
        return -1
    return int((now - min(table.item.created_at for table in moving)).total_seconds())


def _steps(moving: Sequence[TableRow], tables: Sequence[TableRow]) -> tuple[Step, ...]:
    at = min((_ORDER.get(table.phase, 0) for table in moving), default=len(PHASES))
    copied = sum(1 for table in tables if percent(table) == 100)
    steps = []
    for number, (key, name, note) in enumerate(PHASES):
        word = "done" if number < at else "now" if number == at else "todo"
        told = f"{copied} of {len(tables)} tables" if key == "snapshot" else note
        steps.append(Step(name, word, told))
    return tuple(steps)


def lag(feed: FeedRow | None, now: dt.datetime) -> float:
    """Seconds between now and the moment up to which everything is here; -1 unknown."""
    if feed is None or not feed.complete_through:
        return -1
    return round(max(0.0, now.timestamp() - feed.complete_through / 1000), 1)


def behind(feed: FeedRow | None) -> int:
    """Bytes of the upstream's log that are written and not yet here; -1 unknown."""
    if feed is None or not feed.upstream:
        return -1
    return max(0, feed.upstream - feed.upto)


def shown_status(source: SourceRow, tables: Sequence[TableRow]) -> str:
    """The source's status; `snapshot` while tables are being copied and nothing is wrong."""
    status = source.status.status
    if status in {"running", "starting", "created"} and any(
        state(table) in {"snapshot", "queued", "catch up"} for table in tables
    ):
        return "snapshot"
    return status
