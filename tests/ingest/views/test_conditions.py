"""Conditions tried without Spark hold of the same rows as with it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product

import pyarrow as pa
import pytest

from ingest import spark
from ingest.contract.plane import Plane
from ingest.contract.views import Condition
from ingest.tables import reading
from ingest.tables.schema import spark_schema
from ingest.views.conditions import holding
from tests.ingest.views.shapes import TABLES, maintained

CONDITIONS = [
    "b > 5",
    "5 >= b",
    "b <> -3 AND s IS NOT NULL",
    "NOT (b = 3 OR s = 'x')",
    "d <= 10.5",
    "-0.25 < d",
    "d = 7",
    "d BETWEEN 1 AND 10",
    "s IN ('x', 'Ä', '')",
    "s < 'b' OR d IS NULL",
    "s > 'z'",
    "NOT (s IN ('x', 'y'))",
    "b = 1 AND NOT (d > 0.1 AND s = 'x')",
]
FROM = "SELECT a FROM t WHERE"
NOT_HERE = ["b + 1 > 5", "b > a", "b > 1.5", "f > 1", "d > 0.125::double precision", "s LIKE 'x%'"]


def _where(condition: str) -> tuple[Condition, ...]:
    (part,) = maintained(" ".join((FROM, condition))).block.parts
    return part.where if part.values is not None else ()


@pytest.mark.spark
def test_as_spark_has_it(plane: Plane) -> None:
    numbers = (None, 1, 3, 5, -3, 9)
    decimals = (None, Decimal("7.00"), Decimal("10.50"), Decimal("10.51"), Decimal("-0.25"))
    texts = (None, "", "x", "Ä", "ä", "zz", "𝄞")
    cells = [(place, *cell, None) for place, cell in enumerate(product(numbers, texts, decimals))]
    schema = spark_schema(TABLES["u1"])
    live = spark.session(plane)
    rows = live.createDataFrame(cells, schema)
    table = rows.toArrow()
    for condition in CONDITIONS:
        query = maintained(" ".join((FROM, condition)))
        found = reading.frame(live, query.block.sql, {"u1": rows}).collect()
        held = holding(table, _where(condition))
        assert held is not None, condition
        assert _where(condition)
        here = table.filter(held)["a"].to_pylist()
        assert sorted(here) == sorted(row[0] for row in found), condition


def test_what_only_spark_can_tell() -> None:
    rows = pa.table({"a": [1], "b": [1], "f": [0.5], "s": ["x"], "d": [Decimal("0.25")]})
    for condition in NOT_HERE:
        where = _where(condition)
        assert not where or holding(rows, where) is None, condition
    assert holding(rows, (Condition("=", "b", 2**70),)) is None
    assert holding(rows, (Condition("=", "gone", 1),)) is None
    assert holding(rows, (Condition("true", "b"),)) is None


def test_conditions_through_derived_tables() -> None:
    sql = "SELECT c FROM (SELECT b AS c, s FROM t WHERE s = 'x') AS q WHERE c > 1"
    (part,) = maintained(sql).block.parts
    assert part.where == (Condition("=", "s", "x"), Condition(">", "b", 1))
    assert part.values == (("c", "b"),)


def test_days_and_flags() -> None:
    early, late = dt.date(2026, 1, 31), dt.date(2026, 2, 1)
    rows = pa.table({"day": pa.array([early, late, None], pa.date32()), "on": [True, None, False]})
    held = holding(rows, (Condition(">=", "day", late),))
    assert held is not None
    assert held.to_pylist() == [False, True, None]
    flag = holding(rows, (Condition("not", parts=(Condition("true", "on"),)),))
    assert flag is not None
    assert flag.to_pylist() == [False, None, True]
