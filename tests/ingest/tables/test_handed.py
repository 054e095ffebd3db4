"""Rows that go to Spark by file."""

from __future__ import annotations

import datetime as dt
import os
import uuid
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from ingest.errors import IngestError
from ingest.tables import handed, view_tail
from tests.ingest.views import worlds
from tests.ingest.views.test_partials import _change, _filled

pytestmark = pytest.mark.spark

UTC = dt.UTC
_local = dt.datetime.fromisoformat
VALUES: dict[str, tuple[Type, pa.DataType, list[object]]] = {
    "boolean": (Type("boolean"), pa.bool_(), [True, False, None]),
    "smallint": (Type("smallint"), pa.int16(), [-32768, 7, None]),
    "integer": (Type("integer"), pa.int32(), [-(2**31), 7, None]),
    "bigint": (Type("bigint"), pa.int64(), [-(2**63), 7, None]),
    "real": (Type("real"), pa.float32(), [float("-inf"), 0.5, None]),
    "double": (Type("double precision"), pa.float64(), [float("inf"), -0.0, None]),
    "text": (Type("text"), pa.string(), ["", "zwölf 🦆", None]),
    "bytes": (Type("bytea"), pa.binary(), [b"", b"\x00\xff", None]),
    "short": (Type("numeric", 9, 2), pa.decimal128(9, 2), [Decimal("-1234567.89"), 0, None]),
    "numeric": (Type("numeric", 38, 4), pa.decimal128(38, 4), [Decimal("9" * 34), 1, None]),
    "wider": (Type("numeric", 12, 2), pa.decimal128(38, 2), [Decimal("1.50"), -1, None]),
    "date": (Type("date"), pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    "moment": (
        Type("timestamp with time zone"),
        pa.timestamp("us", "UTC"),
        [dt.datetime(1900, 1, 1, tzinfo=UTC), dt.datetime(2262, 5, 1, 1, 2, 3, 4, UTC), None],
    ),
    "local": (
        Type("timestamp"),
        pa.timestamp("us"),
        [_local("1582-10-04 00:00:00"), _local("2026-03-29 02:30:00"), None],
    ),
    "local for a moment": (
        Type("timestamp with time zone"),
        pa.timestamp("us"),
        [_local("2026-03-29 02:30:00"), None, None],
    ),
    "list": (Type("integer", array=True), pa.list_(pa.int32()), [[1, None], [], None]),
}


def _names(path: str) -> list[str]:
    return [each.name for each in Path(path).iterdir()]


def _rows(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.collect()))


@pytest.fixture
def path(plane: Plane) -> str:
    return delta.handed_path(plane, f"t{uuid.uuid4().hex[:8]}")


@pytest.mark.parametrize("name", list(VALUES))
def test_the_same_as_in_the_plan(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    kind, arrow, values = VALUES[name]
    held = Relation((Column("a b`c", kind),))
    rows = pa.table({"c0": pa.array(values, arrow), "mz_diff": pa.array([1, -1, 2], pa.int64())})

    def work(live: SparkSession) -> None:
        with handed.files(live, path) as send:
            by_file, in_plan = send(rows, held), view_tail.local(live, rows, held)
            assert len(_names(path)) == 1
            assert by_file.schema == in_plan.schema
            assert _rows(by_file) == _rows(in_plan)
        assert _names(path) == []

    monkeypatch.setattr(handed, "FEW", 0)
    spark.run(plane, work, "views", repeat=True)


def test_few_rows_and_types_that_are_read_otherwise_go_in_the_plan(
    plane: Plane, path: str
) -> None:
    held = Relation((Column("a", Type("text")),))
    few = pa.table({"c0": pa.array(["1", "2"])})
    odd = pa.table({"c0": pa.array(["1"] * 2_000, pa.large_string())})

    def work(live: SparkSession) -> None:
        with handed.files(live, path) as send:
            assert send(few, held).count() == 2
            assert send(odd, held).count() == 2_000
            assert not Path(path).exists()

    spark.run(plane, work, "views", repeat=True)


def test_what_a_dead_process_left_goes_after_an_hour(plane: Plane, path: str) -> None:
    folder = Path(path)
    folder.mkdir(parents=True)
    old, new = folder / "old.parquet", folder / "new.parquet"
    for file in (old, new):
        file.write_bytes(b"")
    os.utime(old, (0, 0))
    with handed.files(spark.session(plane, "views"), path):
        assert list(folder.iterdir()) == [new]


def test_files_go_when_the_work_fails(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(handed, "FEW", 0)
    rows = pa.table({"c0": pa.array([1, 2], pa.int64())})
    held = Relation((Column("a", Type("bigint")),))

    def work(live: SparkSession) -> None:
        with handed.files(live, path) as send:
            send(rows, held).selectExpr("raise_error('no')").collect()

    with pytest.raises(IngestError, match="no"):
        spark.run(plane, work, "views", repeat=False)
    assert _names(path) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s, a, avg(d) AS x, sum(b) AS y FROM t GROUP BY s, a",
        "SELECT a, min(d) AS low, max(b) AS high FROM t GROUP BY a",
        "SELECT a, b, s, d, f FROM t WHERE b > 1",
        "SELECT DISTINCT s, a FROM t",
    ],
)
def test_steps_by_file(plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(handed, "FEW", 0)
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    _change(tables)
    worlds.follow(plane, view, (35, 45, 60))
    assert _names(delta.handed_path(plane, view.shard)) == []
