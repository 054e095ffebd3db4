from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from ingest.feeds.copying.convert import arrow_type, convert
from ingest.feeds.copying.quarantine import rejected


def test_decimals_that_do_not_fit_are_told_apart() -> None:
    found = convert(pa.array(["1.50", None, "NaN", "1.234", "99999999999"]), "decimal(5,2)")
    assert found.values.to_pylist() == [Decimal("1.50"), None, None, None, None]
    assert found.bad is not None
    assert found.bad.to_pylist() == [False, False, True, True, True]


def test_dates_out_of_range_are_told_apart() -> None:
    days = pa.array([0, None, 2**31 - 1, -735160], pa.int32()).view(pa.date32())
    found = convert(days, "date")
    assert found.bad is not None
    assert found.bad.to_pylist() == [False, False, True, True]
    assert found.values.null_count == 3


def test_arrays_of_one_dimension() -> None:
    texts = pa.array(['{a,"b,\\"c",NULL,"NULL"}', "{}", "{{1},{2}}", None])
    found = convert(texts, "array<string>")
    assert found.values.to_pylist() == [["a", 'b,"c', None, "NULL"], [], None, None]
    assert found.bad is not None
    assert found.bad.to_pylist() == [False, False, True, False]
    assert convert(pa.array(["{t,f}"]), "array<boolean>").values.to_pylist() == [[True, False]]
    assert convert(pa.array(["{1,2}"]), "array<int>").values.to_pylist() == [[1, 2]]


def test_every_spark_type_has_an_arrow_type() -> None:
    assert arrow_type("array<decimal(10,2)>") == pa.list_(pa.decimal128(10, 2))
    assert arrow_type("timestamp") == pa.timestamp("us", "UTC")
    assert arrow_type("timestamp_ntz") == pa.timestamp("us")


def test_a_rejected_row_keeps_its_values_and_says_why() -> None:
    from ingest.feeds.copying.task import Field

    wrapped = (2**31 - 1 + 10_957 + 2**31) % 2**32 - 2**31
    days = pa.array([wrapped], pa.int32()).view(pa.date32())
    batch = pa.record_batch([pa.array(["x"]), days], names=["a", "d"])
    fields = (Field("a", "a", "string", 1, "text"), Field("d", "d", "date", 3, "date"))
    flags = [None, convert(days, "date").bad]
    row = rejected(batch, fields, flags, pa.array([True])).to_pylist()[0]
    assert row["after"] == ["x", None, "infinity"]
    assert row["reason"] == 'column "d": invalid input for type date: "infinity"'


def test_integers_are_decimals_multiplied_by_the_scale() -> None:
    numbers = pa.array([0, 125, None, -1, 10**18 - 1], pa.int64())
    found = convert(numbers, "decimal(18,2)")
    assert found.bad is None
    assert found.values.slice(1, 3).to_pylist() == [Decimal("1.25"), None, Decimal("-0.01")]
    assert found.values[4].as_py() == Decimal("9999999999999999.99")
    assert convert(numbers.slice(1, 2), "decimal(18,2)").values.to_pylist() == [
        Decimal("1.25"),
        None,
    ]
