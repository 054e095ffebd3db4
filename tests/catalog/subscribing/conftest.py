"""A session whose statements may stream, on a real Spark, and readers of streams."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from catalog.results import Done, Rows, Stream
from catalog.session import Session, role_for
from catalog.subscribing import follower
from catalog.text_values import text_rows
from ingest.contract.plane import Plane

Row = tuple[str | None, ...]
PATIENCE = 120.0


class Reader:
    """Reads one stream; `rows` are all that came, as text."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.rows: list[Row] = []

    def until(self, count: int) -> list[Row]:
        """Read until there are so many rows."""
        return self._read(lambda: len(self.rows) >= count)

    def until_progress(self, beyond: int) -> int:
        """Read until everything through `beyond` was told; progress is asked for."""
        self._read(lambda: self.progress > beyond)
        return self.progress

    def to_the_end(self) -> list[Row]:
        """Read until the stream ends."""
        return self._read(lambda: False)

    @property
    def progress(self) -> int:
        """The newest progress, after the one that the beginning is told with."""
        told = [int(row[0] or 0) for row in self.rows[1:] if row[1] == "t"]
        return max(told, default=0)

    def state(self, before: int) -> Counter[Row]:
        """What there is according to the changes before a time; progress is asked for."""
        found: Counter[Row] = Counter()
        for row in self.rows:
            if row[1] == "f" and int(row[0] or 0) < before:
                found[row[3:]] += int(row[2] or 0)
        return +found

    def close(self) -> None:
        """Leave."""
        self.stream.flow.close()

    def _read(self, enough: Any) -> list[Row]:
        deadline = time.monotonic() + PATIENCE
        while not enough() and not self.stream.flow.finished:
            batch = self.stream.flow.take()
            if batch is None:
                assert time.monotonic() < deadline, self.rows[-5:]
                self.stream.flow.wait(1)
                continue
            for part in batch.parts:
                self.rows += text_rows(self.stream.relation, part)
        return self.rows


class Place:
    """A session, and the readers that it has opened."""

    def __init__(self) -> None:
        self.session = Session(role_for("local/embedded", "ada@example.com", superuser=True))
        self._readers: list[Reader] = []

    def run(self, sql: str) -> list[Done | Rows]:
        """Ordinary statements."""
        return list(self.session.execute(sql))

    def rows(self, sql: str) -> Counter[Row]:
        """A query's rows as text."""
        (result,) = self.session.execute(sql)
        assert isinstance(result, Rows)
        return Counter(text_rows(result.relation, result.data))

    def now(self, table: str) -> int:
        """A time at which the table can be read, and everything written before is in it."""
        (result,) = self.session.execute(f"SELECT count(*) FROM {table}")
        assert isinstance(result, Rows)
        return result.timestamp or 0

    def subscribe(self, sql: str) -> Reader:
        """Open a stream."""
        (stream,) = self.session.stream(sql)
        assert isinstance(stream, Stream)
        reader = Reader(stream)
        self._readers.append(reader)
        return reader

    def leave(self) -> None:
        """Close everything, and wait until nobody is followed any more."""
        for reader in self._readers:
            reader.close()
        for found in follower.followers():
            found.stop()


@pytest.fixture
def place(plane: Plane, transactional_db: None) -> Iterator[Place]:
    """A superuser's session on an empty catalog."""
    with override_settings(HEADRACE_PLANE=plane):
        found = Place()
        yield found
        found.leave()
