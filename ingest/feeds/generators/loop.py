"""The life of a generator's feed: ticks into the log, new tables hydrated beside it."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

from ingest.contract.commands import Export, Feed
from ingest.contract.host import FeedHost
from ingest.contract.log import Commit
from ingest.contract.plane import Plane
from ingest.contract.reports import FeedReport
from ingest.errors import HeadraceError, Transient
from ingest.feeds import failpoint
from ingest.feeds.exports import Exports
from ingest.feeds.generators import hydration, rows
from ingest.feeds.generators.kind import Change, Clock, Kind
from ingest.feeds.log import LogWriter

_MOST_ROWS = 5_000
_PAUSE = 0.25


class Loop:
    """One run of a generator's feed, from claiming the log until told to stop."""

    def __init__(
        self, plane: Plane, host: FeedHost, feed: Feed, content: tuple[Kind, Clock]
    ) -> None:
        self._plane, self._host, self._feed = plane, host, feed
        self._kind, self._clock = content
        self._tables = {table.identity: table for table in self._kind.tables}
        self._exports = Exports(plane)
        self._writer = LogWriter(plane, feed.id, feed.epoch)
        self._time = 0
        self._tick = 0
        self._rows = 0
        self._running: dict[str, tuple[int, Future[int]]] = {}

    def run(self) -> None:
        """Work until the host says stop. Raises Transient when it should be started again."""
        last = self._writer.open()
        if last is not None:
            self._time, self._tick = last.time, last.upto
        with ThreadPoolExecutor(1, "hydration") as pool:
            while (feed := self._host.desired()) is not None:
                self._exports.update(feed.exports)
                self._round(pool)
                time.sleep(self._pause())

    def _round(self, pool: ThreadPoolExecutor) -> None:
        now = self._host.next_time(self._time)
        due = self._clock.due(now)
        fresh = [e for e in self._exports.unhydrated() if e.table not in self._running]
        new = {export.table for export in fresh}
        wanted = {e.reference for e in self._exports.alive() if e.table not in new}
        self._advance(now, due, wanted, begin=bool(fresh))
        for export in fresh:
            job = pool.submit(self._hydrate, export, self._tick)
            self._running[export.table] = (self._tick, job)
        self._collect()
        self._report(due)

    def _advance(self, now: int, due: int, wanted: set[int], *, begin: bool) -> None:
        """Log what the ticks up to `due` do, in one commit of at most some thousand rows; `begin`
        makes one without rows too, so that new tables begin at a position the log has."""
        changes: list[tuple[int, Change]] = []
        upto = self._tick if wanted else max(due, self._tick)
        for tick in range(self._tick + 1, due + 1) if wanted else ():
            changes.extend((tick, c) for c in self._kind.changes(tick) if c.identity in wanted)
            upto = tick
            if len(changes) >= _MOST_ROWS:
                break
        counts = Counter(str(change.identity) for _, change in changes)
        if changes or begin or self._exports.waits():
            commit = Commit(self._feed.id, self._feed.epoch, now, upto, dict(counts))
            self._writer.append(rows.logged(changes, self._tables), commit)
            failpoint.hit("log committed")
        self._time, self._tick, self._rows = now, upto, self._rows + len(changes)
        self._exports.advance(now, upto, counts)

    def _hydrate(self, export: Export, tick: int) -> int:
        self._exports.progress(export.table, "snapshot")
        return hydration.hydrate(self._plane, self._kind, export, tick, self._feed.id)

    def _collect(self) -> None:
        """Take in finished hydrations; one that failed for now is tried again."""
        for table, (tick, job) in list(self._running.items()):
            if not job.done():
                continue
            del self._running[table]
            error = job.exception()
            if error is None:
                self._exports.progress(table, "catch up", rows_staged=job.result())
                self._exports.hydrated(table, tick)
            elif isinstance(error, Transient):
                self._exports.stalled(table, error)
            elif isinstance(error, HeadraceError):
                self._exports.fail(table, error)
            else:
                raise error

    def _report(self, due: int) -> None:
        report = FeedReport(
            self._feed.id,
            "running",
            complete_through=self._time,
            upto=self._tick,
            upstream=due,
            messages=self._rows,
        )
        self._host.report((report, *self._exports.reports(counts=True)))

    def _pause(self) -> float:
        """Until the next tick, but often enough to notice new tables and to show progress."""
        if not self._clock.interval:
            return _PAUSE
        ahead = (self._clock.time_of(self._tick + 1) - self._time) / 1000
        return min(max(ahead, 0.02), _PAUSE)
