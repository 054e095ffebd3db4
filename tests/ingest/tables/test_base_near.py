"""A base's rows of some keys, without Spark, beside what Spark says of them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.connect import functions as F

from ingest import commits, delta, spark
from ingest.contract.commands import Export, ExportColumn, Query
from ingest.contract.log import Commit
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.feeds.log import LOG_ROWS, LogWriter
from ingest.tables import (
    apply,
    base_near,
    collection,
    frontier,
    log_changes,
    net,
    reading,
    schema,
)
from tests.ingest.tables import upstream

pytestmark = pytest.mark.spark

_KINDS = {
    "tenant": Type("integer"),
    "day": Type("date"),
    "label": Type("text"),
    "amount": Type("numeric", 12, 2),
    "score": Type("double precision"),
    "at": Type("timestamp with time zone"),
    "local": Type("timestamp"),
}
ROWS = 380
Change = tuple[str, int, str]
Rows = Counter[tuple[Any, ...]]


def _cells(number: int, amount: str) -> list[str]:
    """Row `number` as upstream writes it; no two of the first 385 have the same key."""
    at = f"1970-01-01 00:{number // 60:02}:{number % 60:02}"
    key = [str(number % 7), f"2026-01-0{number % 5 + 1}", f"l{number % 11}"]
    return [*key, amount, f"{number / 2}", f"{at}+00", at]


class Table:
    """A table under the default replica identity: upstream sends no old rows. Its base has two
    files at least."""

    def __init__(self, plane: Plane, key: tuple[str, ...]) -> None:
        self.plane, self.key, self.time = plane, key, 1000
        self.shard, self.feed = f"t{uuid.uuid4().hex[:8]}", f"f{uuid.uuid4().hex[:8]}"
        columns = tuple(
            ExportColumn(name, kind, name not in key, name, place, 25, -1)
            for place, (name, kind) in enumerate(_KINDS.items(), 1)
        )
        self.export = Export(self.shard, self.shard, "public", "t", 7, columns, key, "g")
        self.source = apply.as_input(self.feed, self.export)
        self.writer = LogWriter(plane, self.feed, 1)
        self.writer.open()
        meta = delta.base_metadata(self.shard, 0, 100)
        path, shape = delta.base_path(plane, self.shard), self.source.relation

        def work(live: Any) -> None:
            delta.append(schema.empty(live, shape), path, meta)

        spark.run(plane, work, repeat=False)
        for half in (range(200), range(200, ROWS)):
            self.send(("i", number, f"{number}.25") for number in half)
            self.fold()

    def send(self, changes: Iterable[Change]) -> None:
        self.time += 10
        sent = []
        for seq, (op, number, amount) in enumerate(changes):
            cells = _cells(number, amount)
            key = [cells[list(_KINDS).index(name)] for name in self.key]
            row = {"seq": seq, "reference": 7, "op": op, "key": key, "position": self.time}
            sent.append(row | {"after": None if op == "d" else cells})
        commit = Commit(self.feed, 1, self.time, self.time, {"7": len(sent)})
        self.writer.append(pa.Table.from_pylist(sent, schema=LOG_ROWS), commit)

    def fold(self) -> None:
        apply.apply(self.plane, self.feed, self.export, self.time)

    def rows(self, time: int) -> Rows:
        found = reading.read(self.plane, Query("select * from u1", {"u1": self.source}, time))
        return Counter(tuple(row.values()) for row in found.data.to_pylist())

    def net(self, after: int, *names: str) -> Rows:
        def work(live: Any) -> list[Any]:
            span = (after, self.time)
            found = net.of(self.plane, live, self.source, span, names or None)
            return list(found.rows.toArrow().to_pylist())

        found: Rows = Counter()
        for row in spark.run(self.plane, work, repeat=True):
            *cells, diff = row.values()
            found[tuple(cells)] += diff
        return found

    def shape(self) -> pa.Schema:
        def work(live: Any) -> pa.Schema:
            return (
                collection.at(self.plane, live, self.source, self.time).limit(0).toArrow().schema
            )

        return spark.run(self.plane, work, repeat=True)


@pytest.fixture
def made(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(apply, "_REWRITTEN", 0)
    return Table(plane, ("tenant", "day", "label"))


def changes(*numbers: int) -> list[Change]:
    return [("u", number, f"{number}.75") for number in numbers]


def test_what_changed_is_known_without_spark(
    plane: Plane, made: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the base, in the tail before, in both, in neither; after a MERGE too."""
    monkeypatch.setattr(log_changes, "_by_spark", None)
    monkeypatch.setattr(net, "_of_keys", None)
    for _ in range(2):
        before = made.time
        made.send([*changes(1, 2, 3, 300), ("d", 4, ""), ("d", 5, ""), ("i", 382, "1.00")])
        between = made.time
        made.send([*changes(6, 301, 382), ("u", 2, "9.50"), ("i", 4, "4.00"), ("d", 3, "")])
        made.send([("u", 2, "9.75"), ("d", 7, ""), ("i", 7, "7.25")])
        for after in (before, between):
            expected = made.rows(made.time)
            expected.subtract(made.rows(after))
            assert made.net(after) == Counter({k: n for k, n in expected.items() if n})
            amounts: Rows = Counter()
            for row, count in expected.items():
                amounts[row[3],] += count
            assert made.net(after, "amount") == Counter({k: n for k, n in amounts.items() if n})
        made.send([("i", 3, "3.25"), ("i", 5, "5.25"), ("d", 382, "")])
        made.fold()


def test_changes_of_other_columns_are_none(plane: Plane, made: Table) -> None:
    """Also for who takes changes that cancel out: then there is nothing more to do."""
    before = made.time
    made.send(changes(1, 2, 300))

    def work(live: Any) -> tuple[bool, bool]:
        span = (before, made.time)
        columns = (("tenant", "score"), ("tenant", "amount"))
        each = [net.of(plane, live, made.source, span, names, raw=True) for names in columns]
        return each[0].nothing, each[1].nothing

    assert spark.run(plane, work, repeat=True) == (True, False)


@pytest.mark.parametrize("key", [("tenant", "day", "label"), ("label", "tenant", "day")])
def test_the_rows_are_sparks(plane: Plane, key: tuple[str, ...]) -> None:
    """Keys that are there, keys all of whose values are there but not together, and others."""
    made = Table(plane, key)
    numbers = [1, 8, 77, 200, 379]
    cells = {name: [_cells(n, "0")[place] for n in numbers] for place, name in enumerate(_KINDS)}
    cells = {name: [*cells[name], "-1" if name == "tenant" else cells[name][0]] for name in key}
    kinds = {name: made.shape().field(name).type for name in key}
    keys = pa.table([pa.array(cells[name]).cast(kinds[name]) for name in key], [*"abc"])
    version = frontier.at(plane, made.shard, made.time).version
    found = base_near.rows(plane, made.source, version, keys, made.shape())
    assert found is not None
    assert sorted(found["__n"].to_pylist()) == [0, 1, 2, 3, 4]
    named = keys.rename_columns([f"__key_{place}" for place in range(len(key))])

    def work(live: Any) -> pa.Table:
        base = collection.at(plane, live, made.source, made.time)
        return log_changes._by_spark(live, base, made.source, (named, made.shape()))

    expected = spark.run(plane, work, repeat=True)
    assert found.schema == expected.schema
    order = [("__n", "ascending")]
    assert found.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()


def test_what_only_spark_can_tell(
    plane: Plane, made: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large base, deletion vectors, a commit that an older release packed, files that went,
    and columns whose names Delta maps."""
    shape = made.shape()
    keys = pa.table([pa.array([1]).cast(shape.field(0).type)], ["a"])
    keys = keys.append_column("b", pa.array(["2026-01-02"]).cast(shape.field(1).type))
    keys = keys.append_column("c", pa.array(["l1"]))
    version = frontier.at(plane, made.shard, made.time).version

    def asked() -> pa.Table | None:
        return base_near.rows(plane, made.source, version, keys, shape)

    found = asked()
    assert found is not None
    assert found.num_rows == 1
    for limit in ("_MOST_BYTES", "_MOST_FILES", "_MOST_FOUND"):
        with monkeypatch.context() as patched:
            patched.setattr(base_near, limit, 0)
            assert asked() is None
    path = delta.base_path(plane, made.shard)
    known = delta.versions(path)
    for changed in (
        replace(known[-1], marks=True),
        replace(known[-1], removes=True, removed=()),
        replace(known[-1], added=("gone.parquet",)),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(delta, "versions", lambda _, last=changed: [*known[:-1], last])
            assert asked() is None
    with monkeypatch.context() as patched:
        patched.setattr(delta, "versions", lambda _: known[1:])
        assert asked() is None
    other = upstream.Upstream(plane, "f1", keyed=True, seed=1)
    other.seed_base(shard := f"t{uuid.uuid4().hex[:8]}", 5)
    source = upstream.table("f1", shard, ("id",))
    wanted = pa.schema([("id", pa.int64())])
    assert base_near.rows(plane, source, 0, pa.table({"a": [1]}), wanted) is None


def test_deletion_vectors_are_seen(plane: Plane) -> None:
    path = delta.base_path(plane, f"t{uuid.uuid4().hex[:8]}")

    def work(live: Any) -> None:
        options = {"delta.enableDeletionVectors": "true"}
        delta.append(live.range(1000).coalesce(1), path, "{}", options)
        target = delta.name(path)
        live.range(1).toDF("one").mergeInto(
            target, F.expr("id % 10 = 3")
        ).whenMatched().delete().merge()

    spark.run(plane, work, repeat=False)
    commits.forget(path)
    assert delta.live_files(path, 0) is not None
    assert delta.live_files(path, 1) is None
