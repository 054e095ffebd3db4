"""Values are printed as PostgreSQL prints them."""

import datetime as dt
import math
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text_values import array_text, float_text, text_rows, texts
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from tests.services.postgres import Postgres

UTC = dt.UTC
NUMERIC = pa.decimal128(38, 18)
CASES = [
    ("boolean", pa.array([True, False, None])),
    ("smallint", pa.array([0, -32768, None], pa.int16())),
    ("bigint", pa.array([1, -(2**63), 2**63 - 1, None])),
    ("numeric(12,2)", pa.array([Decimal("1.50"), Decimal("-0.01"), None], pa.decimal128(12, 2))),
    ("text", pa.array(["", "a'b", "é\n", None])),
    ("date", pa.array([dt.date(2020, 2, 29), dt.date(1, 1, 1), None])),
    ("time", pa.array([dt.time(1, 2, 3), dt.time(23, 59, 59, 999_990), None])),
    ("timestamp", pa.array([dt.datetime(2020, 1, 1, 10, 20, 30, 450_000), None])),  # noqa: DTZ001
    (
        "timestamp with time zone",
        pa.array([dt.datetime(2020, 1, 1, 1, 2, 3, 1, UTC)], pa.timestamp("us", "UTC")),
    ),
    ("bytea", pa.array([b"\x00\xff", b"", None])),
    ("integer[]", pa.array([[1, None], [], None], pa.list_(pa.int32()))),
    ("text[]", pa.array([["a b", "", "NULL", 'q"\\', "{", None, "é"]])),
    ("boolean[]", pa.array([[True, False]])),
]
FLOATS = [0.0, -0.0, 1.0, 1.5, 1e14, 1e15, 123456789012345.0, 1e-4, 1e-5, 1e300, 5e-324, 0.1]


@pytest.mark.postgres
@pytest.mark.parametrize(("name", "array"), CASES, ids=[name for name, _ in CASES])
def test_as_postgres_prints(postgres: Postgres, name: str, array: pa.Array) -> None:
    type_ = Type.parse(name)
    with psycopg.connect(postgres.dsn) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for value, text in zip(array.to_pylist(), texts(array, type_), strict=True):
            query = psycopg.sql.SQL("SELECT CAST(%s AS {})::text").format(psycopg.sql.SQL(name))
            row = connection.execute(query, [value]).fetchone()
            expected = {"true": "t", "false": "f"}.get(row[0], row[0]) if row else None
            assert text == expected


@pytest.mark.postgres
def test_floats_as_postgres_prints(postgres: Postgres) -> None:
    with psycopg.connect(postgres.dsn) as connection:
        for value in [*FLOATS, math.inf, -math.inf, math.nan]:
            row = connection.execute("SELECT %s::float8::text", [value]).fetchone()
            assert row == (float_text(value),)
        for value in (0.1, 1e5, 1e6, 3.4028235e38, 1e-4, 1e-5):
            row = connection.execute("SELECT %s::float8::float4::text", [value]).fetchone()
            assert row == (float_text(value, single=True),)


@given(st.floats(allow_nan=False))
def test_floats_read_back(value: float) -> None:
    assert float(float_text(value)) == value


def test_numerics_without_a_scale_lose_only_padding() -> None:
    values = [Decimal("1.5"), Decimal(0), Decimal(100), Decimal("1E-18"), None]
    expected = ["1.5", "0", "100", "0.000000000000000001", None]
    assert texts(pa.array(values, NUMERIC), Type("numeric")) == expected
    assert texts(pa.array([Decimal(7)], pa.decimal128(20, 0)), Type("uint8")) == ["7"]


def test_slices_chunks_and_empty_columns() -> None:
    chunks = pa.chunked_array([[[1], None], [[2, 3]]], pa.list_(pa.int32()))
    assert texts(chunks, Type("integer", array=True)) == ["{1}", None, "{2,3}"]
    assert texts(chunks.slice(1), Type("integer", array=True)) == [None, "{2,3}"]
    assert texts(pa.chunked_array([], pa.timestamp("us")), Type("timestamp")) == []


def test_rows_keep_their_number_without_columns() -> None:
    relation = Relation((Column("a", Type("bigint")), Column("b", Type("text"))))
    data = pa.table({"a": [1, None], "b": ["x", "y"]})
    assert list(text_rows(relation, data)) == [("1", "x"), (None, "y")]
    assert list(text_rows(Relation(()), pa.table({}))) == []


@given(st.lists(st.none() | st.text(max_size=5), max_size=5))
def test_array_text_has_one_element_each(elements: list[str | None]) -> None:
    text = array_text(elements)
    assert text.startswith("{")
    assert text.endswith("}")
