"""A PostgreSQL feed while it runs: stream, log, snapshots, and what becomes of failures."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from ingest.contract.commands import Feed
from ingest.contract.host import FeedHost
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget
from ingest.errors import HeadraceError, IngestError, Terminal, Transient
from ingest.feeds.exports import Exports
from ingest.feeds.log import Fenced, LogWriter
from ingest.feeds.postgres import slot
from ingest.feeds.postgres.committer import Committer
from ingest.feeds.postgres.following import Following

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
_POLL_SECONDS = 0.2
_DISK_FULL = "53100"


def run(plane: Plane, host: FeedHost) -> None:
    """Follow one upstream until the host says stop; blocks.

    Passing failures are reported as `stalled` and tried again here. Raises Terminal, reported as
    `failed`, when only a person can help; Fenced when another reader has taken over.
    """
    feed = host.desired()
    if feed is None:
        return
    loop = _Loop(plane, host, feed)
    try:
        loop.run()
    except Fenced:
        raise
    except HeadraceError as error:
        loop.tell("failed", error)
        raise


def drop_feed(plane: Plane, feed: Feed) -> None:
    """Drop the feed's slot; what is gone already is fine. The log is the caller's to remove.

    Raises Transient or Terminal when the upstream cannot be asked.
    """
    del plane
    if isinstance(feed.target, PostgresTarget) and feed.slot:
        slot.drop(feed.target, feed.slot)


class _Loop:
    def __init__(self, plane: Plane, host: FeedHost, feed: Feed) -> None:
        self._plane = plane
        self._host = host
        self._feed = feed
        self._exports = Exports(plane)
        self._stopping = threading.Event()
        writer = LogWriter(plane, feed.id, feed.epoch)
        self._committer = Committer(feed, host, self._exports, writer)

    def run(self) -> None:
        wait = _FIRST_WAIT
        while self._host.desired() is not None:
            began = time.monotonic()
            try:
                self._follow()
            except (IngestError, OSError) as error:
                self.tell("stalled", _passing(error))
                wait = _FIRST_WAIT if time.monotonic() - began > _LONGEST_WAIT else wait
            if not self._pause(wait):
                return
            wait = min(_LONGEST_WAIT, wait * 2)

    def tell(self, status: str, error: HeadraceError) -> None:
        """Report a failure with the frontier that the feed had."""
        report = replace(
            self._committer.report,
            status=status,  # type: ignore[arg-type]
            error=error.message,
            detail=error.detail or "",
            hint=error.hint or "",
        )
        self._host.report((report, *self._exports.reports(counts=True)))

    def _follow(self) -> None:
        self._committer.open()
        following = Following(self._plane, self._host, self._feed, self._exports, self._committer)
        try:
            following.run()
        finally:
            following.close()

    def _pause(self, seconds: float) -> bool:
        """Wait; False when the feed is not wanted any more."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self._host.desired() is None:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def _passing(error: IngestError | OSError) -> HeadraceError:
    """The error if it may pass; raises it when it will not."""
    if isinstance(error, OSError):
        return Transient("the warehouse is not reachable", detail=str(error))
    if isinstance(error, Fenced):
        raise error
    if isinstance(error, Terminal) and error.sqlstate != _DISK_FULL:
        raise error
    return error
