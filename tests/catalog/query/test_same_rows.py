"""Every case gives the same rows on a real PostgreSQL and, compiled, on a real Spark."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Any

import psycopg
import pytest
from psycopg.types.string import TextLoader

from ingest.contract.plane import Plane
from tests.catalog.query.shop import HERE, PURCHASE, SHOPPER, compiled, lines
from tests.services.postgres import Postgres

pytestmark = [pytest.mark.spark, pytest.mark.postgres]
CASES = lines("cases.sql", 2)


@pytest.fixture(scope="module")
def upstream(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    dsn = postgres.create_database("compared")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.adapters.register_loader("interval", TextLoader)
        connection.execute("SET timezone = 'UTC'")
        connection.execute((HERE / "setup.sql").read_bytes())
        yield connection


@pytest.fixture(scope="module")
def spark(plane: Plane, upstream: psycopg.Connection[Any]) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(plane.remote).create()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.ansi.enabled", "true")
    for name, item, relation in (("shopper", "u1", SHOPPER), ("purchase", "u2", PURCHASE)):
        rows = upstream.execute(f"SELECT * FROM {name}").fetchall()
        schema = ", ".join(f"`{c.name}` {c.type.spark}" for c in relation.columns)
        plain = [[_stored(value) for value in row] for row in rows]
        session.createDataFrame(plain, schema).createOrReplaceTempView(item)
    yield session
    session.stop()


def _stored(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


@pytest.mark.parametrize(("name", "sql"), CASES, ids=[case[0] for case in CASES])
def test_same_rows(name: str, sql: str, upstream: psycopg.Connection[Any], spark: Any) -> None:
    cursor = upstream.execute(sql)
    expected = cursor.fetchall()
    done = compiled(sql)
    table = spark.sql(done.sql).toArrow()
    types = [column.type.name for column in done.relation.columns]
    columns = [column.to_pylist() for column in table.columns]
    found = list(zip(*columns, strict=True)) if columns else []
    shown = [[_shown(v, t) for v, t in zip(row, types, strict=True)] for row in found]
    wanted = [[_shown(v, t) for v, t in zip(row, types, strict=True)] for row in expected]
    if "ORDER BY" not in sql:
        shown, wanted = sorted(shown, key=repr), sorted(wanted, key=repr)
    assert shown == wanted, done.sql
    assert done.relation.names == tuple(d.name for d in cursor.description or [])
    oids = [d.type_code for d in cursor.description or []]
    assert [c.type.oid for c in done.relation.columns] == oids


def _shown(value: Any, type_: str) -> Any:
    if isinstance(value, list) and type_ not in ("json", "jsonb"):
        return [_shown(item, type_) for item in value]
    if type_ in ("json", "jsonb") and isinstance(value, str):
        return ("json", _loaded(value))
    if type_ in ("json", "jsonb") and value is not None:
        return ("json", value)
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        with localcontext(prec=60):
            return round(Decimal(value), 12).normalize()
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    if isinstance(value, dt.datetime) and value.tzinfo:
        return value.astimezone(dt.UTC)
    return _plain(value)


def _plain(value: Any) -> Any:
    return str(value) if type(value).__name__ == "UUID" else value


def _loaded(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
