"""A pretended upstream: a table as a dict, changed at random, and the log rows it would send."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ingest import delta, spark
from ingest.contract.commands import Export, ExportColumn, Input, Query
from ingest.contract.log import Commit
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.feeds.log import LOG_ROWS, LogWriter
from ingest.tables import apply, reading

REFERENCE = 16385
OTHER = 16999
COLUMNS = tuple(
    ExportColumn(name, kind, name != "id", name, position, oid, -1)
    for name, kind, position, oid in (
        ("id", Type("bigint"), 1, 20),
        ("amount", Type("numeric", 12, 2), 2, 1700),
        ("a note", Type("text"), 4, 25),
    )
)
Row = tuple[str | None, ...]
DDL = "id bigint, amount decimal(12,2), `a note` string"


def export(shard: str, key: tuple[str, ...]) -> Export:
    return Export(
        table=shard,
        shard=shard,
        namespace="public",
        name="t",
        reference=REFERENCE,
        columns=COLUMNS,
        key=key,
        snapshot_group="g",
    )


def cells(row: Row) -> list[str | None]:
    """A row as the log has it: a dropped column leaves a hole at position 3."""
    return [row[0], row[1], None, row[2]]


def shown(row: Row) -> tuple[Any, ...]:
    """A row as a query shows it."""
    assert row[0] is not None
    return int(row[0]), None if row[1] is None else Decimal(row[1]), row[2]


class Upstream:
    """Rows with or without a key; `history` has the whole table at each time. `whole`: no value
    is ever left out. `full`: old rows are sent too, as without a key."""

    whole = False
    full = False

    def __init__(self, plane: Plane, feed: str, *, keyed: bool, seed: int) -> None:
        self.plane, self.feed, self.keyed = plane, feed, keyed
        self.random = random.Random(seed)
        self.rows: list[Row] = []
        self.history: dict[int, Counter[tuple[Any, ...]]] = {}
        self.time = 1000
        self.position = 100
        self.serial = 0
        self.writer = LogWriter(plane, feed, 1)
        self.writer.open()

    def seed_base(self, shard: str, count: int, key: str = "bigint") -> None:
        """The snapshot: what is there before the log begins; `key` is the type of `id`."""
        self.rows = [self._row() for _ in range(count)]
        values = [shown(row) for row in self.rows]

        def work(live: Any) -> None:
            frame = live.createDataFrame(values, DDL)
            frame = frame.withColumn("id", frame["id"].cast(key))
            path = delta.base_path(self.plane, shard)
            meta = delta.base_metadata(shard, 0, self.position)
            delta.append(frame, path, meta, {"delta.columnMapping.mode": "name"})

        spark.run(self.plane, work, repeat=False)
        self.history[self.time] = self.now()

    def now(self) -> Counter[tuple[Any, ...]]:
        return Counter(shown(row) for row in self.rows)

    def batch(self, changes: int, *, truncate: bool = False) -> int:
        """Some transactions in one commit; returns its time."""
        sent: list[dict[str, Any]] = []
        for _ in range(changes):
            sent.extend(self._change())
        if truncate:
            self.rows = []
            sent.append(self._logged("t"))
            sent.extend(self._change())
        return self.send(sent)

    def send(self, sent: list[dict[str, Any]]) -> int:
        self.time += 10
        self.position += 5
        sent = [*sent, self._logged("i", after=("1", None, "other"), reference=OTHER)]
        for seq, row in enumerate(sent):
            row["seq"], row["position"] = seq, self.position
        counts = Counter(str(row["reference"]) for row in sent)
        commit = Commit(self.feed, 1, self.time, self.position, dict(counts))
        self.writer.append(pa.Table.from_pylist(sent, schema=LOG_ROWS), commit)
        self.history[self.time] = self.now()
        return self.time

    def _row(self) -> Row:
        if self.keyed:
            self.serial += 1
            key = str(self.serial)
        else:
            key = str(self.random.randrange(4))
        amount = self.random.choice([None, "1.50", "-2.00", "10.25"])
        return key, amount, self.random.choice([None, "x", "long " * 3, "ü'\\\""])

    def _change(self) -> list[dict[str, Any]]:
        kind = self.random.choice("iiuuud") if self.rows else "i"
        if kind == "i":
            row = self._row()
            self.rows.append(row)
            return [self._logged("i", after=row)]
        index = self.random.randrange(len(self.rows))
        old = self.rows[index]
        if kind == "d":
            self.rows.pop(index)
            return [self._logged("d", before=old)]
        return self._update(index, old)

    def _update(self, index: int, old: Row) -> list[dict[str, Any]]:
        new = (old[0], *self._row()[1:])
        if self.keyed and self.random.random() < 0.3:
            return self._move(index, old, new)
        if self.keyed and not self.whole and self.random.random() < 0.5:
            self.rows[index] = (new[0], new[1], old[2])
            return [self._logged("u", after=(new[0], new[1], None), unchanged=[4])]
        self.rows[index] = new
        return [self._logged("u", before=old, after=new)]

    def _move(self, index: int, old: Row, new: Row) -> list[dict[str, Any]]:
        """A new key; by chance upstream leaves the note out, which stays as it was."""
        self.serial += 1
        gone = self._logged("d", before=old)
        if not self.whole and self.random.random() < 0.5:
            self.rows[index] = (str(self.serial), new[1], old[2])
            sent = self._logged("i", after=(str(self.serial), new[1], None), unchanged=[4])
            return [gone, sent | {"before": [old[0], None, None, None]}]
        self.rows[index] = (str(self.serial), new[1], new[2])
        return [gone, self._logged("i", after=self.rows[index])]

    def _logged(
        self,
        op: str,
        before: Row | None = None,
        after: Row | None = None,
        unchanged: Iterable[int] = (),
        reference: int = REFERENCE,
    ) -> dict[str, Any]:
        spoken = after or before
        return {
            "reference": reference,
            "op": op,
            "key": [spoken[0]] if self.keyed and spoken else None,
            "before": cells(before) if before and (self.full or not self.keyed) else None,
            "after": cells(after) if after else None,
            "unchanged": list(unchanged),
        }


def table(feed: str, shard: str, key: tuple[str, ...]) -> Input:
    return apply.as_input(feed, export(shard, key))


def rows(plane: Plane, source: Input, time: int) -> Counter[tuple[Any, ...]]:
    """The table at a time, as a multiset."""
    found = reading.read(plane, Query("select * from u1", {"u1": source}, time))
    return Counter(tuple(row.values()) for row in found.data.to_pylist())
