"""What keeps no changes: built-in relations and sources' progress, asked for again and again."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import pyarrow as pa

from catalog.subscribing.changes import consolidated, in_order, less
from catalog.subscribing.subjects import tick
from catalog.time.oracle import newest_time
from ingest.contract.relation import Relation


@dataclass
class Polled:
    """A query over what is only known now; every reader asks for itself.

    `read` gives its rows now. What was told last is kept here.
    """

    region: str
    title: str
    columns: Relation
    read: Callable[[], pa.Table]
    items: tuple[str, ...] = ()
    exact: bool = False
    sealed: bool = False
    shares: bool = False
    identity: Hashable = field(default_factory=uuid.uuid4)
    _told: pa.Table | None = None

    def begin(self) -> pa.Table:
        """Its rows now, from which changes are told."""
        self._told = self.read()
        return self._told

    def through(self) -> int:
        """The newest time; it goes on once a second."""
        through = newest_time(self.region)
        tick(self.region, through)
        return through

    def changes(self, after: int, upto: int) -> pa.Table | None:
        """What is different now from what was told last; see `Subject`."""
        if self._told is None:
            return None
        rows = self.read()
        found = consolidated(less(rows, self._told, upto))
        self._told = rows
        return in_order(found)
