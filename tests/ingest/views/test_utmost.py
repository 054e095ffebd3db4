"""Whether least and greatest values can have gone, without Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa
import pytest

from ingest.contract.views import Block, Fold
from ingest.views.incremental_utmost import safe

Rows = list[tuple[Any, ...]]
STORED: Rows = [("x", 10, 2), ("y", 5, 1), (None, 7, 3), ("empty", None, 1)]


def _block(how: Literal["min", "max"], *more: Fold) -> Block:
    folds = (Fold(how, "utmost", "v1"), Fold("rows", "n", "", present=True), *more)
    columns = ("a", "utmost", "n", *(each.column for each in more))
    return Block("partitioned", "", key=("k1",), output_key=("a",), columns=columns, folds=folds)


def _safe(how: Literal["min", "max"], changes: Rows, kind: pa.DataType | None = None) -> bool:
    kind = kind or pa.int64()
    columns = list(zip(*changes, strict=True))
    changed = pa.table(
        [pa.array(columns[0], pa.string()), pa.array(columns[1], kind), pa.array(columns[2])],
        ["k1", "v1", "mz_diff"],
    )
    keys, values, counts = zip(*STORED, strict=True)
    stored = pa.table(
        [pa.array(keys), pa.array(values, kind), pa.array(counts)], ["c0", "c1", "c2"]
    )
    return safe(_block(how), changed, stored)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("x", 11, 1)], True),
        ([("x", 9, -1)], True),
        ([("x", 10, -1)], False),
        ([("x", 10, -1), ("x", 9, 1)], False),
        ([("x", 10, -1), ("x", 10, 1)], True),
        ([("x", 10, -1), ("x", 11, 1)], True),
        ([("x", 10, -1), ("y", 11, 1)], False),
        ([("x", 12, 1), ("x", 12, -1), ("x", 10, -1)], False),
        ([("x", 12, 2), ("x", 12, -1), ("x", 10, -1)], True),
        ([(None, 7, -1)], False),
        ([(None, 6, -1)], True),
        ([(None, 7, -1), (None, 8, 1)], True),
        ([("empty", None, -1)], True),
        ([("x", None, -1), ("x", 10, -1)], False),
        ([("new", 3, -1), ("new", 4, 1)], True),
        ([("new", 3, -1)], False),
    ],
)
def test_greatest_and_least(changes: Rows, expected: bool) -> None:  # noqa: FBT001
    assert _safe("max", changes) is expected
    mirrored = [(key, None if value is None else -value, diff) for key, value, diff in changes]
    negative = [(key, None if value is None else -value, n) for key, value, n in STORED]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "STORED", negative)
        assert _safe("min", mirrored) is expected


def test_decimals_and_dates() -> None:
    block = _block("max")
    for kind, low, high in (
        (pa.decimal128(12, 2), Decimal("1.50"), Decimal("2.50")),
        (pa.date32(), dt.date(2026, 1, 1), dt.date(2026, 1, 2)),
    ):
        stored = pa.table([["x"], pa.array([high], kind), [2]], ["c0", "c1", "c2"])
        for gone, expected in ((low, True), (high, False)):
            changed = pa.table([["x"], pa.array([gone], kind), [-1]], ["k1", "v1", "mz_diff"])
            assert safe(block, changed, stored) is expected


def test_what_only_spark_can_tell() -> None:
    """Values that Arrow compares otherwise, changes half known, sums without counts."""
    assert _safe("max", [("x", 9, -1)])
    assert not _safe("max", [("x", 9.0, -1)], pa.float64())
    stored = pa.table([["x"], [10], [2]], ["c0", "c1", "c2"])
    keys_alone = pa.table([["x"], [-1]], ["k1", "mz_diff"])
    assert not safe(_block("max"), keys_alone, stored)
    changed = pa.table([["x"], [9], [-1]], ["k1", "v1", "mz_diff"])
    with_sum = pa.table([["x"], [10], [2], [20]], ["c0", "c1", "c2", "c3"])
    assert not safe(_block("max", Fold("sum", "s", "v1")), changed, with_sum)
