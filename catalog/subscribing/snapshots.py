"""What a subject was at a time, for those who join: read once, then brought on by the window."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from catalog.subscribing.changes import DIFF, TIME, between, consolidated, put_together, stamped
from catalog.subscribing.window import Window

MOST_ROWS = 100_000
"""Rows that are kept for the next one who joins."""
PATIENCE = 3.0
"""Seconds that one who joins waits for the changes up to their time."""


class Snapshots:
    """The newest snapshot of one subject, if it is small. Safe from any thread.

    `exact`: every change has its own time.
    """

    def __init__(self, window: Window, *, exact: bool) -> None:
        self._window = window
        self._exact = exact
        self._known: tuple[int, pa.Table] | None = None
        self._large = False
        self._lock = threading.Lock()

    def at(self, time: int, read: Callable[[], pa.Table]) -> pa.Table:
        """The rows at `time` (ms): from what is known, else by `read`."""
        if self._large:
            return read()
        with self._lock:
            found = self._brought_to(time)
            if found is None:
                found = put_together(read().columns)
            self._large = found.num_rows > MOST_ROWS
            if not self._large and (self._known is None or self._known[0] < time):
                self._known = time, found
            return found

    def _brought_to(self, time: int) -> pa.Table | None:
        if self._known is None:
            return None
        since, rows = self._known
        if time == since:
            return rows
        parts = self._changes(since, time)
        if parts is None or any(pa.types.is_nested(c.type) for c in rows.columns):
            return None
        return _added(rows, parts)

    def _changes(self, after: int, upto: int) -> list[pa.Table] | None:
        """What changed in between; None when the window does not say."""
        deadline = clock.monotonic() + PATIENCE
        while self._window.end < upto:
            if clock.monotonic() > deadline:
                return None
            clock.sleep(0.02)
        found: list[pa.Table] = []
        while after < upto:
            try:
                step = self._window.next(after)
            except LookupError:
                return None
            if step is None:
                return None
            whole = step.after == after and step.upto <= upto
            if step.changes is not None:
                if not whole and not self._exact:
                    return None
                found.append(between(step.changes, after, upto))
            after = min(step.upto, upto)
        return found if after == upto else None


def _added(rows: pa.Table, parts: list[pa.Table]) -> pa.Table:
    """The rows with changes added to them, of whatever times."""
    base = stamped(rows, 0)
    zeros = [
        part.set_column(part.num_columns + TIME, part.column_names[TIME], _zeros(part))
        for part in parts
    ]
    whole = pa.concat_tables([base, *(part.cast(base.schema) for part in zeros)])
    net = consolidated(whole)
    counts = pc.fill_null(net.column(net.num_columns + DIFF), 0).to_numpy()
    places = np.repeat(np.arange(net.num_rows), np.maximum(counts, 0))
    return put_together([column.take(pa.array(places)) for column in net.columns[:TIME]])


def _zeros(part: pa.Table) -> pa.Array:
    return pa.array(np.zeros(part.num_rows, np.int64))
