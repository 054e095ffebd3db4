"""The newest changes of a subject: computed once, read by everybody who follows it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

MOST_ROWS = 200_000
"""Changes that a window keeps; the newest step is kept whatever its size."""
MOST_STEPS = 2_000
MADE_STEPS = 20
"""Steps whose rows are kept in readers' forms too."""
T = TypeVar("T")


class Batch:
    """Some of a subscription's rows, in its own columns, in one or more tables; what entrances
    make of them is kept here, so that readers who get the same rows share it."""

    def __init__(self, *parts: pa.Table) -> None:
        self.parts = parts
        self._made: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return sum(part.num_rows for part in self.parts)

    def once(self, key: Hashable, make: Callable[[Batch], T]) -> T:
        """What `make` gives for the batch, made at the first call with this key."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make(self)
            made: T = self._made[key]
            return made


@dataclass(frozen=True, eq=False)
class Step:
    """The changes with `after` < time <= `upto` (ms); None when there are none."""

    after: int
    upto: int
    changes: pa.Table | None
    made_at: float = field(default_factory=time.monotonic)
    _batches: dict[Hashable, Batch | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def batch(self, key: Hashable, make: Callable[[], Batch | None]) -> Batch | None:
        """The step's rows in one form, shared by everybody who wants that form."""
        with self._lock:
            if key not in self._batches:
                self._batches[key] = make()
            return self._batches[key]

    def forget(self) -> None:
        """Drop the forms that were made of it: most readers have passed."""
        with self._lock:
            self._batches.clear()


class Window:
    """The newest steps, without a gap between them. Safe from any thread."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._end = start
        self._steps: deque[Step] = deque()
        self._rows = 0
        self._lock = threading.Lock()

    @property
    def end(self) -> int:
        """The time (ms) through which everything is known."""
        return self._end

    @property
    def start(self) -> int:
        """The time (ms) after which the window has everything."""
        return self._start

    def add(self, step: Step) -> None:
        """Put the next step in; the oldest ones go when there are too many."""
        with self._lock:
            self._steps.append(step)
            self._end = step.upto
            if len(self._steps) > MADE_STEPS:
                self._steps[-1 - MADE_STEPS].forget()
            self._rows += _rows(step)
            while len(self._steps) > 1 and (
                self._rows > MOST_ROWS or len(self._steps) > MOST_STEPS
            ):
                gone = self._steps.popleft()
                self._rows -= _rows(gone)
                self._start = gone.upto

    def next(self, after: int) -> Step | None:
        """The step that has what comes after a time; None when it is not known yet.

        Raises LookupError for a time that is too old.
        """
        with self._lock:
            if after < self._start:
                raise LookupError(after)
            for step in reversed(self._steps):
                if step.after <= after:
                    return step if after < step.upto else None
            return None


def _rows(step: Step) -> int:
    return 0 if step.changes is None else step.changes.num_rows
