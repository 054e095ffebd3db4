"""Binary values: the same bytes as PostgreSQL's own, both ways."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from catalog.errors import InvalidStatement
from console.pgwire.binary import to_text
from console.pgwire.messages import ProtocolViolation
from console.pgwire.values import row_messages
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from tests.services.postgres import Postgres

MOMENT = dt.datetime.fromisoformat("2026-02-03 04:05:06.000789")
EARLY = dt.datetime.fromisoformat("1960-01-01 00:00:00")
UUID = "12345678-1234-5678-1234-567812345678"
VALUES: list[tuple[str, pa.Array]] = [
    ("boolean", pa.array([True, False])),
    ("smallint", pa.array([-5, 32767], pa.int16())),
    ("integer", pa.array([-5, 2**31 - 1], pa.int32())),
    ("bigint", pa.array([-5, 2**63 - 1], pa.int64())),
    ("oid", pa.array([5, 2**32 - 1], pa.int64())),
    ("real", pa.array([1.5, -0.1, float("inf")], pa.float32())),
    ("double precision", pa.array([1.5, -1e300, float("nan")], pa.float64())),
    ("numeric(12,4)", pa.array([Decimal("12345.6700"), Decimal("-0.0001")], pa.decimal128(12, 4))),
    ("numeric(12,0)", pa.array([Decimal(10000), Decimal(0)], pa.decimal128(12, 0))),
    ("numeric", pa.array([Decimal("1e10"), Decimal("99999999.5")], pa.decimal128(38, 18))),
    ("text", pa.array(["", "ü 'x' \\"])),
    ("character varying(9)", pa.array(["abc"])),
    ("bytea", pa.array([b"", b"\0\xff"])),
    ("date", pa.array([dt.date(1999, 1, 2), dt.date(2026, 2, 3)])),
    ("time", pa.array([dt.time(1, 2, 3, 4)])),
    ("timestamp", pa.array([MOMENT, EARLY], pa.timestamp("us"))),
    ("timestamp", pa.array([MOMENT], pa.timestamp("ns"))),
    ("timestamp with time zone", pa.array([MOMENT], pa.timestamp("us", "UTC"))),
    ("interval", pa.array(["1 year 2 mons -3 days 04:05:06.789", "-00:00:01.5", "2 days"])),
    ("uuid", pa.array([UUID])),
    ("json", pa.array(['{"a": 1}'])),
    ("jsonb", pa.array(['{"a": 1}'])),
    ("text[]", pa.array([["a", None, 'b "c"'], []])),
    ("bigint[]", pa.array([[1, 2], [-3]])),
]


def sent(type_: Type, array: pa.Array, *, binary: bool) -> list[bytes | None]:
    """The values as the row messages have them."""
    relation = Relation((Column("c", type_),))
    raw = b"".join(row_messages(relation, pa.table({"c": array}), (int(binary),)))
    values: list[bytes | None] = []
    while raw:
        size = int.from_bytes(raw[1:5], "big")
        body, raw = raw[7 : size + 1], raw[size + 1 :]
        length = int.from_bytes(body[:4], "big", signed=True)
        values.append(None if length < 0 else body[4 : 4 + length])
    return values


@pytest.mark.postgres
@pytest.mark.parametrize(("name", "array"), VALUES)
def test_as_postgresql_has_it(postgres: Postgres, name: str, array: pa.Array) -> None:
    type_ = Type.parse(name)
    texts = [(value or b"").decode() for value in sent(type_, array, binary=False)]
    with psycopg.connect(postgres.dsn) as connection:
        query = f"SELECT cast(%t::text AS {name})"
        for text, ours in zip(texts, sent(type_, array, binary=True), strict=True):
            cursor: psycopg.Cursor[Any] = connection.cursor(binary=True)
            cursor.execute(query, (text,))
            assert cursor.pgresult is not None
            theirs = cursor.pgresult.get_value(0, 0)
            assert theirs == ours, text
            back = connection.execute(
                f"SELECT cast(%t::text AS {name}) IS NOT DISTINCT FROM cast(%t::text AS {name})"
                if name != "json"
                else "SELECT %t::text = %t::text",
                (text, to_text(ours or b"", type_)),
            )
            assert back.fetchone() == (True,), to_text(ours or b"", type_)


@pytest.mark.parametrize(("name", "array"), VALUES)
def test_nulls(name: str, array: pa.Array) -> None:
    nulls = pa.array([None], array.type)
    for binary in (True, False):
        assert sent(Type.parse(name), nulls, binary=binary) == [None]


def test_many_rows_come_in_parts() -> None:
    relation = Relation((Column("a", Type("bigint")), Column("b", Type("text"))))
    data = pa.table({"a": range(5000), "b": ["x"] * 5000})
    parts = list(row_messages(relation, data, (0, 1)))
    assert len(parts) == 3
    assert sum(part.count(b"\0\0\0\1x") for part in parts) == 5000


def test_rows_without_columns() -> None:
    data = pa.table({"a": [1, 2]}).select([])
    assert list(row_messages(Relation(()), data, ())) == [b"D\0\0\0\6\0\0" * 2]


@pytest.mark.parametrize(
    ("raw", "name"),
    [(b"\0", "integer"), (b"\0" * 3, "numeric"), (b"x" * 15, "uuid"), (b"\xff", "text")],
)
def test_bytes_of_another_type_are_refused(raw: bytes, name: str) -> None:
    with pytest.raises(ProtocolViolation, match="incorrect binary data format"):
        to_text(raw, Type(name))


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidStatement, match="cannot be sent as binary integer"):
        sent(Type("integer"), pa.array([2**40]), binary=True)
