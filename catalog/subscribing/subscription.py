"""One reader of a subject: where it is, and what it gets next.

What many readers want is taken from the shared window. A reader that is behind the window, or
began at another time, asks for its own part; nobody waits for it.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa

from catalog.errors import StatementError
from catalog.subscribing import presence
from catalog.subscribing.changes import between, stamped
from catalog.subscribing.follower import Follower, follow
from catalog.subscribing.shaping import Shape
from catalog.subscribing.subjects import Subject
from catalog.subscribing.window import Batch, Step
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError, IngestError, Transient

SLICE = 10_000
"""Rows of a snapshot that are told at once."""
Snapshot = Callable[[], pa.Table] | None


@dataclass(frozen=True)
class Span:
    """Which times are told: changes after `as_of` (ms) and before `up_to` (None: no end), after
    what was there at `as_of` if `snapshot`."""

    as_of: int
    up_to: int | None = None
    snapshot: bool = True

    @property
    def last(self) -> int | None:
        """The last time that is told."""
        return None if self.up_to is None else self.up_to - 1


@dataclass
class Counts:
    """What a subscription has told."""

    rows: int = 0
    batches: int = 0
    own_reads: int = 0
    started_at: float = field(default_factory=time.time)


class Subscription:
    """Gives batches until it is `finished`. One thread at a time takes; `close` from any."""

    def __init__(
        self, subject: Subject, shape: Shape, span: Span, read: Snapshot, role: str = ""
    ) -> None:
        self.id = uuid.uuid4()
        self.subject = subject
        self.shape = shape
        self.span = span
        self.role = role
        self.counts = Counts()
        self.finished = False
        self.told_through = span.as_of - 1
        self._read = read
        self._pending: deque[Batch] = deque()
        self._ready = threading.Event()
        self._cancelled = False
        self._listener: Callable[[], None] | None = None
        self._follower: Follower | None = None
        if not subject.sealed:
            start = span.as_of if subject.exact else max(span.as_of, subject.through())
            self._follower = follow(subject, start, self, self._tell)
        presence.enter(subject.region, self)

    @property
    def relation(self) -> Relation:
        """The columns of the rows."""
        return self.shape.relation

    @property
    def follower(self) -> Follower | None:
        """Who computes its changes; None when nothing can change."""
        return self._follower

    @property
    def reads(self) -> bool:
        """Whether the next `take` asks the data plane, and may take long."""
        if self._pending or self.finished:
            return False
        if self.told_through < self.span.as_of:
            return True
        try:
            step = self._next()
        except LookupError:
            return True
        return step is not None and not self._fits(step)

    def listen(self, tell: Callable[[], None]) -> None:
        """Call `tell`, from another thread, whenever there may be more to take."""
        self._listener = tell

    def wait(self, seconds: float) -> bool:
        """Wait until there may be more to take; False when the time is over."""
        found = self._ready.wait(seconds)
        self._ready.clear()
        return found

    def take(self) -> Batch | None:
        """The next rows; None when there are none yet, or no more because it is `finished`.

        Raises HeadraceError when it cannot go on.
        """
        if self._cancelled and not self.finished:
            self.close()
            message = "canceling statement due to user request"
            raise StatementError(message, sqlstate="57014")
        while not self.finished and not self._pending:
            if not self._advance():
                return None
        batch = self._pending.popleft() if self._pending else None
        if batch is not None:
            self.counts.batches += 1
            self.counts.rows += batch.num_rows
        return batch

    def cancel(self) -> None:
        """Let `take` raise that the statement was cancelled; from any thread."""
        self._cancelled = True
        self._tell()

    def close(self) -> None:
        """Nobody reads any more."""
        self.finished = True
        if self._follower is not None:
            self._follower.leave(self)
        presence.leave(self.subject.region, self)

    def _tell(self) -> None:
        self._ready.set()
        if self._listener is not None:
            self._listener()

    def _advance(self) -> bool:
        """Put the next batches into `_pending`; False when there is nothing to do yet."""
        if self.told_through < self.span.as_of:
            self._begin()
            return True
        last = self.span.last
        if self._follower is None or (last is not None and self.told_through >= last):
            self.close()
            return False
        try:
            step = self._next()
        except LookupError:
            return self._own(self._follower.window.end)
        if step is None:
            return self._at_end(self._follower)
        if not self._fits(step):
            return self._own(step.upto)
        shared = last is None or step.upto <= last
        if shared and step.after == self.told_through:
            batch = step.batch(self.shape, lambda: self._shaped(step.changes, step.upto))
            return self._passed(batch, step.upto)
        upto = step.upto if shared or last is None else last
        part = None if step.changes is None else between(step.changes, self.told_through, upto)
        return self._passed(self._shaped(part, upto), upto)

    def _at_end(self, follower: Follower) -> bool:
        if follower.failure is not None:
            failed = follower.failure
            raise HeadraceError(
                failed.message, detail=failed.detail, hint=failed.hint, sqlstate=failed.sqlstate
            )
        return False

    def _next(self) -> Step | None:
        if self._follower is None:
            return None
        return self._follower.window.next(self.told_through)

    def _fits(self, step: Step) -> bool:
        """Whether what is wanted of a step can be taken out of it."""
        last = self.span.last
        whole = step.after == self.told_through and (last is None or step.upto <= last)
        return whole or self.subject.exact or step.changes is None

    def _begin(self) -> None:
        """What there is at the beginning, and how far that is; nothing in an empty span."""
        last = self.span.last
        if last is not None and last < self.span.as_of:
            self.told_through = self.span.as_of
            return
        if self.shape.progress:
            self._say_progress(self.span.as_of)
        rows = self._snapshot() if self._read is not None else None
        if self.span.snapshot and rows is not None:
            for start in range(0, rows.num_rows, SLICE):
                part = stamped(rows.slice(start, SLICE), self.span.as_of)
                self._pending.append(Batch(self.shape.rows(part)))
        if self.shape.progress:
            self._say_progress(self.span.as_of + 1)
        self.told_through = self.span.as_of

    def _snapshot(self) -> pa.Table:
        if self._read is None:
            raise TypeError(self.span)
        if self._follower is None or not self.subject.shares:
            return self._read()
        return self._follower.snapshots.at(self.span.as_of, self._read)

    def _own(self, upto: int) -> bool:
        """Compute what the window does not have, for this reader alone."""
        last = self.span.last
        if last is not None:
            upto = min(upto, last)
        if upto <= self.told_through:
            return False
        self.counts.own_reads += 1
        try:
            found = self.subject.changes(self.told_through, upto)
        except Transient:
            time.sleep(0.2)
            return False
        except IngestError as error:
            raise self._too_late(error) from error
        return self._passed(self._shaped(found, upto), upto)

    def _passed(self, batch: Batch | None, upto: int) -> bool:
        if batch is not None:
            self._pending.append(batch)
        self.told_through = upto
        return True

    def _too_late(self, error: IngestError) -> HeadraceError:
        if error.sqlstate != "22023":
            return error
        return IngestError(
            "the subscription is behind the history that is kept",
            detail=f"{error.message}; everything through {self.told_through} was told.",
            hint="Subscribe again with a snapshot.",
            sqlstate="55000",
        )

    def _shaped(self, changes: pa.Table | None, upto: int) -> Batch | None:
        """Rows for the client, with progress at their end; None when there is nothing to tell."""
        parts = []
        if changes is not None and changes.num_rows:
            parts.append(self.shape.rows(changes))
        if self.shape.progress:
            parts.append(self.shape.progressed(upto + 1))
        return Batch(*parts) if parts else None

    def _say_progress(self, at: int) -> None:
        self._pending.append(Batch(self.shape.progressed(at)))
