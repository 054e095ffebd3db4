"""One thread per subject: it waits until there is more, computes the changes once, for all."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable

from django.db import DatabaseError, close_old_connections, connections

from catalog.subscribing.snapshots import Snapshots
from catalog.subscribing.subjects import Subject
from catalog.subscribing.window import Step, Window
from ingest.errors import HeadraceError, Transient

POLL = 0.5
"""Seconds after which it looks without being woken: a wake can be lost."""
PAUSE = 0.1
"""Seconds between two steps."""
RETRY = 1.0
LINGER = 10.0
"""Seconds that it goes on with nobody there: a reader that lost its connection comes back."""
_log = logging.getLogger(__name__)


class Follower:
    """Follows one subject for as long as there is a reader.

    `computed` counts how often changes were computed, `seconds` how long the last time took.
    """

    def __init__(self, subject: Subject, start: int) -> None:
        self.subject = subject
        self.window = Window(start)
        self.snapshots = Snapshots(self.window, exact=subject.exact)
        self.failure: HeadraceError | None = None
        self.computed = 0
        self.seconds = 0.0
        self._readers: dict[object, Callable[[], None]] = {}
        self._idle_since = time.monotonic()
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="subscribe", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End at once, whoever follows, and wait for it."""
        self._stopped = True
        self._woken.set()
        self._thread.join()
        _forget(self)

    @property
    def readers(self) -> int:
        """How many follow it now."""
        return len(self._readers)

    def join(self, reader: object, tell: Callable[[], None]) -> None:
        """A reader comes in; `tell` is called from this thread whenever there is more."""
        with self._lock:
            self._readers[reader] = tell

    def leave(self, reader: object) -> None:
        """A reader goes; what it was is forgotten."""
        with self._lock:
            self._readers.pop(reader, None)
            self._idle_since = time.monotonic()

    def wake(self) -> None:
        """There may be more now."""
        self._woken.set()

    def _run(self) -> None:
        while not self._finished():
            wait = POLL
            try:
                close_old_connections()
                wait = PAUSE if self._step() else POLL
            except Transient as error:
                _log.info("%s waits: %s", self.subject.title, error.message)
                wait = RETRY
            except DatabaseError:
                _log.warning("%s waits for the catalog", self.subject.title, exc_info=True)
                wait = RETRY
            except HeadraceError as error:
                self._fail(error)
            except Exception:
                _log.exception("following %s failed for a reason of ours", self.subject.title)
                self._fail(HeadraceError("internal error", hint="The server's log says more."))
            if wait == POLL:
                self._woken.wait(wait)
                self._woken.clear()
            else:
                time.sleep(wait)
        connections.close_all()

    def _step(self) -> bool:
        """Go as far as the subject has come; whether that is any further."""
        after = self.window.end
        upto = self.subject.through()
        if upto <= after:
            return False
        began = time.monotonic()
        found = self.subject.changes(after, upto)
        if found is not None:
            self.computed += 1
            self.seconds = time.monotonic() - began
        rows = found if found is not None and found.num_rows else None
        self.window.add(Step(after, upto, rows))
        self._tell()
        return True

    def _fail(self, error: HeadraceError) -> None:
        self.failure = error
        _forget(self)
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            told = list(self._readers.values())
        for tell in told:
            tell()

    def _finished(self) -> bool:
        if self._stopped or self.failure is not None or not threading.main_thread().is_alive():
            return True
        with _lock, self._lock:
            if self._readers or time.monotonic() - self._idle_since < LINGER:
                return False
            if _followers.get(self.subject.identity) is self:
                del _followers[self.subject.identity]
            return True


_followers: dict[Hashable, Follower] = {}
_lock = threading.Lock()


def follow(subject: Subject, start: int, reader: object, tell: Callable[[], None]) -> Follower:
    """The follower of that subject with the reader joined; a new one begins after `start` (ms)."""
    with _lock:
        found = _followers.get(subject.identity)
        fresh = found is None
        if found is None:
            found = _followers[subject.identity] = Follower(subject, start)
        found.join(reader, tell)
    if fresh:
        found.start()
    return found


def followers() -> list[Follower]:
    """All that there are in this process."""
    with _lock:
        return list(_followers.values())


def wake() -> None:
    """There may be more of anything."""
    for follower in followers():
        follower.wake()


def _forget(follower: Follower) -> None:
    with _lock:
        if _followers.get(follower.subject.identity) is follower:
            del _followers[follower.subject.identity]
