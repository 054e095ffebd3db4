"""Files of a base that hold none of the changed keys are not read."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from ingest import delta, spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.tables import collection, ranges
from tests.ingest.tables.upstream import DDL, table

_TEXTS = pa.list_(pa.string())


def _keyed(shard: str, kind: str) -> Input:
    source = table("f1", shard, ("id",))
    first = replace(source.columns[0], type=Type.parse(kind))
    return replace(source, columns=(first, *source.columns[1:]))


@pytest.mark.spark
def test_other_files_are_left_out(plane: Plane) -> None:
    shard = f"t{uuid.uuid4().hex[:8]}"
    source = _keyed(shard, "bigint")

    def work(live: Any) -> tuple[int, list[Any], int]:
        path = delta.base_path(plane, shard)
        for first in (0, 100, 200):
            rows = [(first + number, None, "x") for number in range(100)]
            options = {"delta.columnMapping.mode": "name"} if first == 0 else None
            delta.append(live.createDataFrame(rows, DDL), path, "", options)
        whole = collection.base(plane, live, source, 2)
        within = ranges.of(pa.array([["207"], ["203"], ["205"]], _TEXTS), source)
        assert within is not None
        few = whole.where(within)
        ids = sorted(row[0] for row in few.select("id").collect())
        return len(whole.inputFiles()), ids, len(few.inputFiles())

    files, ids, fewer = spark.run(plane, work, repeat=False)
    assert ids == [203, 204, 205, 206, 207]
    assert 0 < fewer <= files // 3


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("numeric", [["1.50"]]),
        ("bigint", []),
        ("bigint", [["7"], None]),
        ("bigint", [["not a number"]]),
    ],
)
def test_keys_that_say_nothing(kind: str, keys: list[list[str] | None]) -> None:
    assert ranges.of(pa.array(keys, _TEXTS), _keyed("t1", kind)) is None
    assert ranges.of(pa.array(keys, _TEXTS), table("f1", "t1", ())) is None
