"""PostgreSQL's text to Spark's values, in one job for all cases."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import ExportColumn
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.tables import cast

pytestmark = pytest.mark.spark

BAD = object()
moment = dt.datetime
CASES: tuple[tuple[str, str | None, Any], ...] = (
    ("boolean", "t", True),
    ("boolean", "f", False),
    ("boolean", "x", BAD),
    ("bytea", "\\xdeadBEEF", b"\xde\xad\xbe\xef"),
    ("bytea", "\\x", b""),
    ("bytea", "\\xd", BAD),
    ("smallint", "-32768", -32768),
    ("smallint", "40000", BAD),
    ("integer", "2147483648", BAD),
    ("integer", None, None),
    ("bigint", "9223372036854775807", 9223372036854775807),
    ("bigint", " 1", BAD),
    ("oid", "4294967295", 4294967295),
    ("real", "1.5", 1.5),
    ("double precision", "-Infinity", float("-inf")),
    ("double precision", "1e308", 1e308),
    ("numeric(12,2)", "10.50", Decimal("10.50")),
    ("numeric(12,2)", "10.555", BAD),
    ("numeric(4,2)", "123.00", BAD),
    ("numeric", "NaN", BAD),
    ("numeric", "Infinity", BAD),
    ("numeric", "0.1234567890123456789", BAD),
    ("numeric", "-12.5000000000000000000000", Decimal("-12.5")),
    ("uint8", "18446744073709551615", Decimal(18446744073709551615)),
    ("date", "2024-02-29", dt.date(2024, 2, 29)),
    ("date", "infinity", BAD),
    ("date", "0044-03-15 BC", BAD),
    ("date", "2023-02-29", BAD),
    ("timestamp", "2024-01-01 12:30:00.123456", moment(2024, 1, 1, 12, 30, 0, 123456)),
    ("timestamp", "-infinity", BAD),
    ("timestamp with time zone", "2024-01-01 12:30:00+05:30", moment(2024, 1, 1, 7)),
    (
        "timestamp with time zone",
        "2024-01-01 12:30:00.5+00",
        moment(2024, 1, 1, 12, 30, 0, 500000),
    ),
    (
        "timestamp with time zone",
        "1880-01-01 00:00:00+05:53:28",
        moment(1879, 12, 31, 18, 6, 32),
    ),
    ("timestamp with time zone", "2024-01-01 12:30:00-08", moment(2024, 1, 1, 20, 30)),
    ("timestamp with time zone", "2024-01-01 12:30:00+00 BC", BAD),
    ("time", "12:00:00", "12:00:00"),
    ("interval", "1 day 02:00:00", "1 day 02:00:00"),
    ("uuid", "6ecd8c99-4036-403d-bf84-cf8400f67836", "6ecd8c99-4036-403d-bf84-cf8400f67836"),
    ("jsonb", '{"a": 1}', '{"a": 1}'),
    ("character(3)", "a  ", "a  "),
    ("text", "", ""),
    ("integer[]", "{1,2,NULL}", [1, 2, None]),
    ("integer[]", "{}", []),
    ("integer[]", "[0:1]={7,8}", [7, 8]),
    ("integer[]", "{{1,2},{3,4}}", BAD),
    ("integer[]", "{1,x}", BAD),
    (
        "text[]",
        '{a,"b,c","NULL",NULL,"q\\"x","a\\\\b","{y}"}',
        ["a", "b,c", "NULL", None, 'q"x', "a\\b", "{y}"],
    ),
    ("timestamp[]", '{"2024-01-01 12:30:00"}', [moment(2024, 1, 1, 12, 30)]),
    ("numeric(5,1)[]", "{1.5,22}", [Decimal("1.5"), Decimal("22.0")]),
)


def test_every_type(plane: Plane) -> None:
    columns = [
        ExportColumn(f"c{i}", Type.parse(kind), i >= 0, "", i + 1, 0, -1)
        for i, (kind, _, _) in enumerate(CASES)
    ]
    live = spark.session(plane)
    row = F.col("after")
    frame = live.createDataFrame([([text for _, text, _ in CASES],)], "after array<string>")
    fits = [cast.fits(cast.cell(row, c), c.type) for c in columns]
    found = frame.select(
        F.array(*fits).alias("fits"),
        cast.reason(row, columns).alias("reason"),
        cast.all_fit(row, columns).alias("all"),
        *cast.values(row, columns),
    ).collect()[0]
    for i, (kind, text, expected) in enumerate(CASES):
        assert found["fits"][i] == (expected is not BAD), (kind, text)
        if expected is not BAD:
            assert found[f"c{i}"] == expected, (kind, text)
    assert found["all"] is False
    assert found["reason"] == 'column "c2": invalid input for type boolean: "x"'
