"""Changes and stored rows of groups brought together without Spark, beside doing it by hand."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from ingest.contract.views import Block, Fold
from ingest.views.incremental_sums import merged, shape

FOLDS = (
    Fold("rows", "n", present=True),
    Fold("count", "some", "v1"),
    Fold("sum", "total", "v1"),
    Fold("min", "least", "v1"),
    Fold("max", "most", "v1"),
)
BLOCK = Block(
    "partitioned",
    "",
    key=("k1",),
    output_key=("a",),
    columns=("a", *(each.column for each in FOLDS)),
    folds=FOLDS,
)
ARROW = {
    "integer": (pa.int32(), IntegerType(), LongType(), pa.int64()),
    "bigint": (pa.int64(), LongType(), LongType(), pa.int64()),
    "numeric": (
        pa.decimal128(12, 2),
        DecimalType(12, 2),
        DecimalType(22, 2),
        pa.decimal128(22, 2),
    ),
}


def _kinds(value: DataType, total: DataType, folds: tuple[Fold, ...] = FOLDS) -> StructType:
    """What Spark makes of changes alone."""
    found = StructType().add("k1", StringType()).add("known", IntegerType()).add("net", LongType())
    for n, each in enumerate(folds, 1):
        if each.how in ("rows", "count"):
            found.add(f"z{n}", LongType())
        elif each.how == "sum":
            found.add(f"z{n}", total)
        else:
            for letter in "zid":
                found.add(f"{letter}{n}", value)
        if each.how in ("count", "sum"):
            found.add(f"c{n}", LongType())
        if each.how == "sum":
            found.add(f"t{n}", total)
    return found


def _changes(rows: list[tuple[Any, ...]], kind: pa.DataType) -> pa.Table:
    keys, values, diffs = zip(*rows, strict=True)
    arrays = [pa.array(keys, pa.string()), pa.array(values, kind), pa.array(diffs, pa.int64())]
    return pa.table(arrays, ["k1", "v1", "mz_diff"])


def _stored(rows: dict[Any, list[Any]], kind: pa.DataType, total: pa.DataType) -> pa.Table:
    """By place: the key, how many, how many values, their sum, the least and the greatest."""
    columns = list(zip(*((key, *row) for key, row in rows.items()), strict=True)) or [()] * 6
    types = [pa.string(), pa.int64(), pa.int64(), total, kind, kind]
    arrays = [pa.array(column, each) for column, each in zip(columns, types, strict=True)]
    return pa.table(arrays, [f"c{place}" for place in range(6)])


def _group(values: list[Any]) -> list[Any]:
    some = [value for value in values if value is not None]
    total = sum(some[1:], some[0]) if some else None
    return [len(values), len(some), total, min(some, default=None), max(some, default=None)]


def _by_hand(changes: list[tuple[Any, ...]], stored: dict[Any, list[Any]]) -> set[tuple[Any, ...]]:
    found = set()
    for key in {row[0] for row in changes}:
        own = [(value, diff) for one, value, diff in changes if one == key]
        counted = sum(diff for value, diff in own if value is not None)
        moved = [value * diff for value, diff in own if value is not None]
        known = stored.get(key)
        z = known or [None] * 5
        parts = [*moved, *([z[2]] if z[2] is not None else [])]
        total = sum(parts[1:], parts[0]) if parts else None
        net = {v: sum(d for w, d in own if w == v) for v, _ in own if v is not None}
        came, went = [v for v, d in net.items() if d > 0], [v for v, d in net.items() if d < 0]
        least = (z[3], min(came, default=None), min(went, default=None))
        most = (z[4], max(came, default=None), max(went, default=None))
        sums = (z[2], counted, total)
        head = (key, int(known is not None), sum(diff for _, diff in own))
        found.add((*head, z[0], z[1], counted, *sums, *least, *most))
    return found


@pytest.mark.parametrize("kind", list(ARROW))
@pytest.mark.parametrize("seed", range(5))
def test_as_by_hand(kind: str, seed: int) -> None:
    """Null keys and null values are among them, groups that are new, and some that go."""
    dice = random.Random(seed)
    arrow, value_kind, total_kind, total = ARROW[kind]

    def value() -> Any:
        number = dice.randrange(-50, 50)
        drawn = Decimal(number) / 4 if kind == "numeric" else number
        return None if dice.random() < 0.2 else drawn

    keys = [None, "", "b", "ä", "e", "f"]
    before = {key: [value() for _ in range(dice.randrange(1, 5))] for key in keys[:4]}
    stored = {key: _group(values) for key, values in before.items()}
    changes = [(key, gone, -1) for key, rows in before.items() for gone in rows[:2]]
    changes += [(dice.choice(keys), value(), dice.choice([1, 1, 3])) for _ in range(12)]
    there = {key: row for key, row in stored.items() if key in {each[0] for each in changes}}
    kinds = _kinds(value_kind, total_kind)
    found = merged(BLOCK, _changes(changes, arrow), _stored(there, arrow, total), kinds)
    assert found is not None
    assert found.groups.num_columns == len(shape(BLOCK, kinds))
    assert {tuple(row.values()) for row in found.groups.to_pylist()} == _by_hand(changes, stored)


def test_dates_have_a_least_and_a_greatest() -> None:
    folds = (FOLDS[0], FOLDS[4])
    block = Block(
        "partitioned", "", key=("k1",), output_key=("a",), columns=("a", "n", "most"), folds=folds
    )
    early, late = dt.date(2026, 1, 1), dt.date(2026, 2, 1)
    stored = pa.table([["x"], pa.array([2]), pa.array([early], pa.date32())], ["c0", "c1", "c2"])
    changes = _changes([("x", late, 1), ("x", early, -1)], pa.date32())
    found = merged(block, changes, stored, _kinds(DateType(), LongType(), folds))
    assert found is not None
    assert found.groups.to_pylist() == [
        {"c0": "x", "c1": 1, "c2": 0, "c3": 2, "c4": early, "c5": late, "c6": early}
    ]


def test_sums_that_are_too_large_for_one_type_are_so_in_the_other() -> None:
    """A sum of integers that leaves theirs is Spark's to refuse; a wide decimal one is made."""
    none = _stored({}, pa.int64(), pa.int64())
    most = 2**63 - 1
    rows = [("x", most, 1), ("x", 1, 1)]
    assert merged(BLOCK, _changes(rows, pa.int64()), none, _kinds(LongType(), LongType())) is None
    fits = [*rows, ("x", 1, -1)]
    found = merged(BLOCK, _changes(fits, pa.int64()), none, _kinds(LongType(), LongType()))
    assert found is not None
    assert found.groups["c8"].to_pylist() == [most]
    kind, large = pa.decimal128(28, 0), Decimal("9" * 28)
    wide = _kinds(DecimalType(28, 0), DecimalType(38, 0))
    none = _stored({}, kind, pa.decimal128(38, 0))
    found = merged(BLOCK, _changes([("x", large, 1)] * 2, kind), none, wide)
    assert found is not None
    assert found.groups["c8"].to_pylist() == [Decimal(2 * int(large))]


def test_what_only_spark_can_tell() -> None:
    """Floating-point numbers, rows that come too often, values unknown, numbers too long."""
    kinds = _kinds(LongType(), LongType())
    none = _stored({}, pa.int64(), pa.int64())
    once = _changes([("x", 1, 1)], pa.int64())
    assert merged(BLOCK, once, none, kinds) is not None
    assert merged(BLOCK, _changes([("x", 1, 10**6)], pa.int64()), none, kinds) is not None
    assert merged(BLOCK, _changes([("x", 1, 10**6 + 1)], pa.int64()), none, kinds) is None
    assert merged(BLOCK, once.drop_columns(["v1"]), none, kinds) is None
    assert merged(BLOCK, _changes([("x", 1.5, 1)], pa.float64()), none, kinds) is None
    wide = _kinds(DecimalType(29, 0), DecimalType(38, 0))
    large = _changes([("x", Decimal(10**28), 1)], pa.decimal128(29, 0))
    assert merged(BLOCK, large, none, wide) is None
    small = _changes([("x", Decimal(10**28 - 1), 1)], pa.decimal128(29, 0))
    assert merged(BLOCK, small, none, wide) is not None
    keys = once.set_column(0, "k1", pa.array([0.5]))
    assert merged(BLOCK, keys, none, kinds) is None


def test_groups_of_which_only_the_rows_are_counted() -> None:
    block = Block(
        "partitioned", "", key=("k1",), output_key=("a",), columns=("a", "n"), folds=FOLDS[:1]
    )
    stored = pa.table([["x", "y"], [2, 1]], ["c0", "c1"])
    changes = _changes([("x", 1, 1), ("y", 1, -1), ("z", 1, 3)], pa.int64())
    found = merged(block, changes, stored, _kinds(LongType(), LongType(), FOLDS[:1]))
    assert found is not None
    rows = {tuple(row.values()) for row in found.groups.to_pylist()}
    assert rows == {("x", 1, 1, 2), ("y", 1, -1, 1), ("z", 0, 3, None)}
