"""Changes as SUBSCRIBE's rows: plain differences, envelopes, progress, order in a timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from catalog.errors import InvalidStatement, NotSupported, StatementError
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.subscribe import Envelope, Ordering, Subscribe
from catalog.subscribing.changes import DIFF, TIME, put_together
from ingest.contract.relation import Column, Relation
from ingest.contract.types import BIGINT, TEXT, Type

TIMESTAMP = Type("numeric")
BOOLEAN = Type("boolean")
_TIME = pa.decimal128(20, 0)
_LEAD = {"mz_timestamp", "mz_progressed", "mz_state", "mz_diff"}
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Order:
    """A column to order by: its place among the changes' columns."""

    place: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Shape:
    """What a subscription makes of its subject's changes; equal shapes give equal rows.

    `key` and `values` are places of columns, `order` those to order by within a timestamp.
    """

    columns: Relation
    progress: bool
    envelope: Envelope = "none"
    key: tuple[int, ...] = ()
    order: tuple[Order, ...] = ()

    @property
    def relation(self) -> Relation:
        """The columns that a client gets."""
        lead = [Column("mz_timestamp", TIMESTAMP, nullable=False)]
        if self.progress:
            lead.append(Column("mz_progressed", BOOLEAN, nullable=False))
        rest = self.columns.columns if self.envelope == "none" else self._enveloped()
        if self.envelope == "none":
            lead.append(Column("mz_diff", BIGINT, nullable=self.progress))
        else:
            lead.append(Column("mz_state", TEXT, nullable=self.progress))
        if self.progress or self.envelope != "none":
            rest = tuple(replace(column, nullable=True) for column in rest)
        return Relation((*lead, *rest))

    def rows(self, changes: pa.Table) -> pa.Table:
        """Changes in order of time as rows for a client."""
        if self.envelope != "none":
            return self._in_envelope(changes)
        if self.order:
            changes = self._ordered(changes)
        data = changes.columns[:TIME]
        return self._led(changes.columns[TIME], [changes.columns[DIFF], *data])

    def progressed(self, time: int) -> pa.Table:
        """The row that says that everything before `time` (ms) has been told."""
        nulls = [pa.nulls(1)] * (len(self.relation.columns) - 2)
        return put_together([pa.array([time], _TIME), pa.array([True]), *nulls])

    def _led(self, times: Any, rest: list[Any]) -> pa.Table:
        count = len(times)
        lead = [pc.cast(pc.cast(times, pa.decimal128(19, 0)), _TIME)]
        if self.progress:
            lead.append(pa.repeat(pa.scalar(value=False), count))
        return put_together([*lead, *rest])

    @property
    def values(self) -> tuple[int, ...]:
        """Places of the columns that are not in the key."""
        return tuple(n for n in range(len(self.columns.columns)) if n not in self.key)

    def _enveloped(self) -> tuple[Column, ...]:
        own = self.columns.columns
        key = tuple(own[place] for place in self.key)
        values = tuple(own[place] for place in self.values)
        if self.envelope == "upsert":
            return key + values
        before = tuple(replace(column, name=f"before_{column.name}") for column in values)
        after = tuple(replace(column, name=f"after_{column.name}") for column in values)
        return key + before + after

    def _in_envelope(self, changes: pa.Table) -> pa.Table:
        """One row per key and time."""
        told = [self._told(rows) for rows in _by_key(changes, self.key)]
        first = pa.array([one[0] for one in told], pa.int64())
        states = pa.array([one[1] for one in told], pa.string())
        old = pa.array([one[2] for one in told], pa.int64())
        new = pa.array([one[3] for one in told], pa.int64())
        columns = changes.columns
        key = [columns[place].take(first) for place in self.key]
        before = [columns[place].take(old) for place in self.values]
        after = [columns[place].take(new) for place in self.values]
        sides = after if self.envelope == "upsert" else before + after
        return self._led(columns[TIME].take(first), [states, *key, *sides])

    def _told(self, rows: list[tuple[int, int]]) -> tuple[int, str, int | None, int | None]:
        """A row's place to take the key from, its state, and the places of before and after."""
        gone = [place for place, diff in rows if diff < 0]
        come = [place for place, diff in rows if diff > 0]
        if len(gone) > 1 or len(come) > 1 or any(abs(diff) != 1 for _, diff in rows):
            return rows[0][0], "key_violation", None, None
        if not come:
            return gone[0], "delete", gone[0], None
        if not gone:
            state = "upsert" if self.envelope == "upsert" else "insert"
            return come[0], state, None, come[0]
        return come[0], "upsert", gone[0], come[0]

    def _ordered(self, changes: pa.Table) -> pa.Table:
        """By time, and within a time by the columns that were asked for."""
        keys: list[tuple[str, ...]] = [(str(changes.num_columns + TIME), "ascending")]
        for order in self.order:
            direction = "descending" if order.descending else "ascending"
            nulls = "at_start" if order.nulls_first else "at_end"
            keys.append((str(order.place), direction, nulls))
        return changes.take(pc.sort_indices(changes, sort_keys=keys))


def _by_key(changes: pa.Table, key: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Places and differences of the changes of each key at each time, in order of time."""
    parts = [changes.column(place).to_pylist() for place in key]
    times = changes.column(changes.num_columns + TIME).to_pylist()
    diffs = changes.column(changes.num_columns + DIFF).to_pylist()
    found: dict[Key, list[tuple[int, int]]] = {}
    for place, cells in enumerate(zip(times, *parts, strict=True)):
        found.setdefault(tuple(map(_hashable, cells)), []).append((place, diffs[place]))
    yield from found.values()


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, list | dict) else value


def shape(statement: Subscribe, columns: Relation) -> Shape:
    """The shape that a statement asks for.

    Raises InvalidStatement for a column that is not there, or is there twice.
    """
    progress = statement.flag("PROGRESS", default=False)
    key = tuple(_place(name, columns, "ENVELOPE KEY") for name in statement.key)
    for place, name in zip(key, statement.key, strict=True):
        if key.count(place) > 1:
            message = f'key column "{name.last}" is named twice'
            raise InvalidStatement(message, position=name.at, sqlstate="42701")
    order = tuple(_order(one, columns) for one in statement.order)
    return Shape(columns, progress, statement.envelope, key, order)


def _order(one: Ordering, columns: Relation) -> Order:
    nulls_first = one.descending if one.nulls_first is None else one.nulls_first
    if one.column.last == "mz_diff" and "mz_diff" not in columns.names:
        return Order(len(columns.columns) + 1, one.descending, nulls_first)
    place = _place(one.column, columns, "ORDER BY")
    if columns.columns[place].type.array:
        message = f'WITHIN TIMESTAMP ORDER BY cannot order by "{one.column.last}"'
        raise NotSupported(message, position=one.column.at)
    return Order(place, one.descending, nulls_first)


def _place(name: Name, columns: Relation, clause: str) -> int:
    places = [place for place, found in enumerate(columns.names) if found == name.last]
    make: Callable[..., StatementError] = InvalidStatement
    if not places:
        message = f'column "{name.last}" does not exist'
        detail = f"{clause} may name: {', '.join(columns.names)}."
        raise make(message, detail=detail, position=name.at, sqlstate="42703")
    if len(places) > 1:
        message = f'column reference "{name.last}" is ambiguous'
        raise make(message, position=name.at, sqlstate="42702")
    return places[0]
