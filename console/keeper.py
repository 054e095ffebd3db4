"""Keeps one child process per feed: started when wanted, started again with growing pauses."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections

from catalog import desired, leases, snapshot
from catalog.control import controller
from catalog.regions import region_names
from console.leash import leash

WATCH = 0.5
STEADY = 30.0
LONGEST_PAUSE = 30.0
GRACE = 10.0
STUCK = 90.0
GIVEN_UP = 3
"""Exit status of a feed that needs a person."""
_log = logging.getLogger(__name__)


@dataclass
class Running:
    """A feed's process, or the pause before its next one; a changed catalog ends the pause."""

    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = 0.0
    due: float = 0.0
    revision: int = -1


class Keeper:
    """The resident of one region on this machine; `Keepers` lets it look around."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._owner = leases.owner_name(uuid.uuid4().hex[:8])
        self._feeds: dict[str, Running] = {}

    def close(self) -> None:
        """Stop every child."""
        self._stop(list(self._feeds))

    def round(self) -> None:
        """Start what should run and does not, and stop what should not. Raises DatabaseError."""
        controller.report_silent(self._region)
        wanted = desired.wanted_feeds(self._region)
        for feed in wanted:
            self._tend(feed, self._feeds.setdefault(feed, Running()))
        gone = [feed for feed in self._feeds if feed not in wanted]
        if gone:
            self._stop(gone)

    def _tend(self, feed: str, running: Running) -> None:
        now = time.monotonic()
        if running.process is not None:
            code = running.process.poll()
            if code is None:
                self._unstick(feed, running.process)
                return
            if code < 0:
                self._tell(feed, f"the feed's process was ended by {signal.Signals(-code).name}")
            steady = now - running.started > STEADY
            longer = min(LONGEST_PAUSE, max(0.5, running.pause * 2))
            running.pause = LONGEST_PAUSE if code == GIVEN_UP else 0.5 if steady else longer
            running.revision = snapshot.current(self._region).revision
            running.process, running.due = None, now + running.pause
            _log.info(
                "feed %s of %s ended with %s, again in %.1f s",
                feed,
                self._region,
                code,
                running.pause,
            )
        if now < running.due and snapshot.current(self._region).revision == running.revision:
            return
        epoch = leases.acquire_feed(self._region, feed, self._owner)
        if epoch is not None:
            if running.started == 0:
                self._tell(feed, "the feed's process has ended")
            running.process, running.started = self._start(feed, epoch), now

    def _tell(self, feed: str, reason: str) -> None:
        """Let a feed that was last heard of running say why it is not."""
        controller.report_stopped(self._region, feed, reason)

    def _unstick(self, feed: str, process: subprocess.Popen[bytes]) -> None:
        """End a child that has not renewed its lease for far too long: it hangs."""
        if leases.expired_feed(self._region, feed, self._owner, STUCK):
            _log.warning("feed %s hangs and is ended", feed)
            process.kill()

    def _start(self, feed: str, epoch: int) -> subprocess.Popen[bytes]:
        manage = str(settings.BASE_DIR / "manage.py")
        options = ["--owner", self._owner, "--epoch", str(epoch), "--region", self._region]
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, manage, "feed", feed, *options],
            env=settings.HEADRACE_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            preexec_fn=leash(signal.SIGKILL),
        )

    def _stop(self, feeds: list[str]) -> None:
        """Ask the children to stop, wait, insist; then give their leases back."""
        children = {feed: self._feeds.pop(feed).process for feed in feeds}
        living = {feed: child for feed, child in children.items() if child is not None}
        for child in living.values():
            with suppress(ProcessLookupError):
                child.terminate()
        until = time.monotonic() + GRACE
        for child in living.values():
            try:
                child.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for feed in feeds:
            with suppress(DatabaseError):
                leases.release_feed(self._region, feed, self._owner)


class Keepers:
    """The residents of every region; one thread, because children die with the one they are of."""

    def __init__(self) -> None:
        self._keepers: dict[str, Keeper] = {}

    def run(self, stop: threading.Event) -> None:
        """Watch until told to stop; then stop every child."""
        while not stop.is_set():
            try:
                for region in region_names():
                    self._keepers.setdefault(region, Keeper(region)).round()
            except DatabaseError:
                _log.warning("the catalog cannot be asked for now", exc_info=True)
            close_old_connections()
            stop.wait(WATCH)
        for keeper in self._keepers.values():
            keeper.close()
