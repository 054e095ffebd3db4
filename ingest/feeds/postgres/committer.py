"""From batches to visible time: log commit, then the report, then the acknowledgement."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from ingest.contract.commands import Feed
from ingest.contract.host import FeedHost
from ingest.contract.log import Commit
from ingest.contract.reports import FeedReport
from ingest.feeds import failpoint
from ingest.feeds.exports import Exports
from ingest.feeds.log import LOG_ROWS, LogWriter
from ingest.feeds.postgres.collect import Batch

_IDLE_BYTES = 16 << 20
_COUNTS_SECONDS = 1.0


class Committer:
    """Commits one batch at a time in a thread of its own, so that the stream is read meanwhile.

    `durable` is the position that the log holds: the only one that upstream may hear of.
    """

    def __init__(
        self,
        feed: Feed,
        host: FeedHost,
        exports: Exports,
        writer: LogWriter,
    ) -> None:
        self._feed = feed
        self._host = host
        self._exports = exports
        self._writer = writer
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="log")
        self._running: Future[None] | None = None
        self._counted = 0.0
        self.last = Commit(feed.id, feed.epoch, 0, 0, {})
        self.report = FeedReport(feed.id, "starting")
        self.spool = writer.spool

    def open(self) -> None:
        """Find out what the log has, if that is not known. Raises Fenced and Transient."""
        if self._writer.unsure:
            self.last = self._writer.open() or self.last

    @property
    def durable(self) -> int:
        """The upstream position up to which the log has everything; 0 before the first batch."""
        return self.last.upto

    @property
    def busy(self) -> bool:
        """Whether a commit is under way; raises what the last one failed with."""
        if self._running is None:
            return False
        if not self._running.done():
            return True
        running, self._running = self._running, None
        running.result()
        return False

    def bind(self, position: int, upstream: str) -> None:
        """Write down where a new log begins, before anything is read."""
        self._append(None, position, {}, upstream)

    def commit(self, batch: Batch) -> None:
        """Start to commit a batch; not while `busy`."""
        self._running = self._pool.submit(self._commit, batch)

    def idle(self, position: int) -> None:
        """Start to move time on to `position`, up to which upstream has nothing for us."""
        self._running = self._pool.submit(self._idle, position)

    def seen(self, *, newest: int, retained: int, read: int) -> None:
        """What the next report says of upstream: its newest position, the WAL it keeps for the
        slot, and the bytes that were read from it."""
        self.report = replace(self.report, upstream=newest, retained_bytes=retained, bytes=read)

    def finish(self) -> None:
        """Wait for the commit that is under way; raises what it failed with."""
        running, self._running = self._running, None
        if running is not None:
            running.result()

    def _commit(self, batch: Batch) -> None:
        time_ = self._append(batch, batch.upto, batch.counts, self.last.upstream)
        failpoint.hit("log committed")
        messages = self.report.messages + batch.size
        self._show(time_, batch.upto, batch.counts, messages)

    def _idle(self, position: int) -> None:
        if position - self.durable >= _IDLE_BYTES:
            time_ = self._append(None, position, {}, self.last.upstream)
        else:
            time_ = self._host.next_time(self.last.time)
        self._show(time_, max(position, self.durable), {}, self.report.messages)

    def _append(
        self, batch: Batch | None, upto: int, counts: dict[str, int], upstream: str
    ) -> int:
        time_ = self._host.next_time(self.last.time)
        commit = Commit(self._feed.id, self._feed.epoch, time_, upto, counts, upstream)
        rows = LOG_ROWS.empty_table() if batch is None else batch.rows
        self._writer.append(rows, commit)
        self.last = commit
        return time_

    def _show(self, time_: int, upto: int, counts: dict[str, int], messages: int) -> None:
        self._exports.advance(time_, upto, counts)
        self.report = replace(
            self.report,
            status="running",
            complete_through=time_,
            upto=upto,
            upstream=max(upto, self.report.upstream),
            messages=messages,
            error="",
            detail="",
            hint="",
        )
        self._host.report((self.report, *self._exports.reports(counts=False)))
        now = time.monotonic()
        if now - self._counted > _COUNTS_SECONDS:
            self._counted = now
            counted = self._exports.reports(counts=True)
            if counted:
                self._host.report(counted)
