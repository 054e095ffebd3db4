"""Cursors: results that a client fetches some rows at a time, until its transaction ends."""

from __future__ import annotations

import time
from collections import deque

import pyarrow as pa

from catalog.errors import InvalidStatement, StatementError
from catalog.results import Rows, Stream
from catalog.variables import seconds
from ingest.contract.relation import Relation

LONGEST = 0.5
"""Seconds that a cursor waits at once, so that it can be cancelled."""


class OpenCursor:
    """One cursor and where it stands."""

    def __init__(self, result: Rows | Stream) -> None:
        self.relation = result.relation
        self._flow = result.flow if isinstance(result, Stream) else None
        self._parts = deque([result.data] if isinstance(result, Rows) else [])

    def fetch(self, count: int | None, timeout: float) -> Rows:
        """At most so many rows (None: all). Of a stream, those that are there, or come within
        `timeout` seconds. Raises HeadraceError when the stream cannot go on."""
        deadline = time.monotonic() + timeout
        taken: list[pa.Table] = []
        left = count
        while left is None or left > 0:
            if not self._parts and not self._more(deadline):
                break
            part = self._parts.popleft()
            if left is not None and part.num_rows > left:
                self._parts.appendleft(part.slice(left))
                part = part.slice(0, left)
            taken.append(part)
            left = None if left is None else left - part.num_rows
        data = self._joined(taken)
        return Rows(f"FETCH {data.num_rows}", self.relation, data)

    def close(self) -> None:
        """Nobody fetches any more."""
        if self._flow is not None:
            self._flow.close()

    def _more(self, deadline: float) -> bool:
        """Take the stream's next rows; False when there are none in time."""
        flow = self._flow
        while flow is not None and not flow.finished:
            batch = flow.take()
            if batch is not None:
                self._parts.extend(batch.parts)
                return bool(self._parts)
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            flow.wait(min(left, LONGEST))
        return False

    def _joined(self, parts: list[pa.Table]) -> pa.Table:
        if not parts:
            columns = [pa.nulls(0) for _ in self.relation.columns]
            return pa.Table.from_arrays(columns, names=list(map(str, range(len(columns)))))
        return pa.concat_tables(parts, promote_options="permissive")


class Cursors:
    """A session's cursors by name."""

    def __init__(self) -> None:
        self._open: dict[str, OpenCursor] = {}

    def free(self, name: str) -> None:
        """Raise StatementError when there is a cursor of that name."""
        if name in self._open:
            message = f'cursor "{name}" already exists'
            raise StatementError(message, sqlstate="42P03")

    def declare(self, name: str, result: Rows | Stream) -> None:
        """Keep a result under a name."""
        self._open[name] = OpenCursor(result)

    def named(self, name: str) -> OpenCursor:
        """The cursor of that name; raises StatementError."""
        if name not in self._open:
            message = f'cursor "{name}" does not exist'
            raise StatementError(message, sqlstate="34000")
        return self._open[name]

    def relation(self, name: str) -> Relation | None:
        """The columns of a cursor, None when there is none of that name."""
        found = self._open.get(name)
        return None if found is None else found.relation

    def close(self, name: str = "") -> None:
        """Close one, or all; raises StatementError for one that is not there."""
        if name:
            self.named(name).close()
            del self._open[name]
            return
        for found in self._open.values():
            found.close()
        self._open.clear()


def wait_of(timeout: str) -> float:
    """FETCH's timeout in seconds, 0 without one; raises InvalidStatement."""
    try:
        return seconds(timeout) if timeout else 0.0
    except ValueError as error:
        message = f'invalid value for TIMEOUT: "{timeout}"'
        raise InvalidStatement(message, hint=str(error)) from None
