"""The life of the webhooks' feed: from the inbox into the log, exactly once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ingest.contract.commands import Export, Feed
from ingest.contract.host import FeedHost
from ingest.contract.inbox import Accepted
from ingest.contract.log import Commit
from ingest.contract.plane import Plane
from ingest.contract.reports import FeedReport
from ingest.errors import HeadraceError, Transient
from ingest.feeds import failpoint
from ingest.feeds.exports import Exports
from ingest.feeds.generators import hydration
from ingest.feeds.generators.kind import Change, Values
from ingest.feeds.log import LOG_ROWS, LogWriter
from ingest.feeds.webhooks.inbox import Batch, Drain

_PAUSE = 0.1
_REPORT = 0.25
_TIDY = 300.0
_MOST_BYTES = 16 * 2**20


class _Nothing:
    """A table's content before its first request."""

    tables = ()

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """No rows."""
        del identity, tick
        return iter(())

    def changes(self, tick: int) -> Iterator[Change]:
        """No changes."""
        del tick
        return iter(())


class Loop:
    """One run of the feed, from claiming the log until told to stop."""

    def __init__(self, plane: Plane, host: FeedHost, feed: Feed) -> None:
        self._plane, self._host, self._feed = plane, host, feed
        self._exports = Exports(plane)
        self._writer = LogWriter(plane, feed.id, feed.epoch)
        self._drain = Drain(plane, feed.id)
        self._taken: dict[str, int] = {}
        self._time = 0
        self._count = 0
        self._bytes = 0
        self._first = 0
        self._reported = 0.0
        self._tidied = time.monotonic()

    def run(self) -> None:
        """Work until the host says stop. Raises Transient when it should be started again."""
        last = self._writer.open()
        if last is not None:
            self._time, self._count, self._taken = last.time, last.upto, dict(last.taken)
            self._first = last.upto
        try:
            while self._round():
                time.sleep(_PAUSE)
        except OSError as error:
            message = "the inbox of the webhooks cannot be read"
            raise Transient(message, detail=error.strerror) from error

    def _round(self) -> bool:
        """The definition is asked for after the inbox is looked at: it has every webhook whose
        requests are there, unless that was dropped."""
        batches = self._drain.waiting(self._taken, _MOST_BYTES)
        feed = self._host.desired()
        if feed is None:
            return False
        self._exports.update(feed.exports)
        for export in self._exports.unhydrated():
            self._hydrate(export)
        self._log(batches)
        self._report()
        if time.monotonic() - self._tidied > _TIDY:
            self._drain.tidy()
            self._tidied = time.monotonic()
        return True

    def _log(self, batches: list[Batch]) -> None:
        now = self._host.next_time(self._time)
        wanted = {export.reference for export in self._exports.alive()}
        requests = [one for batch in batches for one in batch.requests if one.reference in wanted]
        counts = Counter(str(r.reference) for r in requests for _ in r.rows)
        upto = self._count + len(requests)
        if batches or self._exports.waits() or not self._time:
            taken = self._taken_with(batches)
            commit = Commit(self._feed.id, self._feed.epoch, now, upto, dict(counts), taken=taken)
            self._writer.append(_rows(requests, self._count), commit)
            failpoint.hit("log committed")
            self._taken = taken
            self._drain.done(batches)
        self._time, self._count = now, upto
        self._bytes += sum(batch.size for batch in batches)
        self._exports.advance(now, upto, counts)

    def _taken_with(self, batches: list[Batch]) -> dict[str, int]:
        """What the log has once it has these; writers whose folder is gone are forgotten."""
        there = set(self._drain.writers())
        taken = {writer: number for writer, number in self._taken.items() if writer in there}
        for batch in batches:
            taken[batch.writer] = max(taken.get(batch.writer, 0), batch.number)
        return taken

    def _hydrate(self, export: Export) -> None:
        """An empty table; every request comes after position 0."""
        self._exports.progress(export.table, "snapshot")
        try:
            hydration.hydrate(self._plane, _Nothing(), export, 0, self._feed.id)
        except Transient as error:
            self._exports.stalled(export.table, error)
        except HeadraceError as error:
            self._exports.fail(export.table, error)
        else:
            self._exports.hydrated(export.table, 0)

    def _report(self) -> None:
        now = time.monotonic()
        exports = self._exports.reports(counts=True)
        if now - self._reported < _REPORT and not exports:
            return
        self._reported = now
        report = FeedReport(
            self._feed.id,
            "running",
            complete_through=self._time,
            upto=self._count,
            upstream=self._count,
            messages=self._count - self._first,
            bytes=self._bytes,
        )
        self._host.report((report, *exports))


def _rows(requests: list[Accepted], before: int) -> pa.Table:
    """Log rows; a request's place among all is its position."""
    columns: dict[str, list[Any]] = {name: [] for name in LOG_ROWS.names}
    for position, request in enumerate(requests, before + 1):
        for cells in request.rows:
            columns["seq"].append(len(columns["seq"]))
            columns["reference"].append(request.reference)
            columns["op"].append("i")
            columns["key"].append(None)
            columns["before"].append(None)
            columns["after"].append(list(cells))
            columns["unchanged"].append([])
            columns["position"].append(position)
    return pa.table(columns, schema=LOG_ROWS)
