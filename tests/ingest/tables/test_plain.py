"""Plain tables, and what queries over them may do wrong."""

from __future__ import annotations

import time
import uuid

import pytest

from ingest import engine
from ingest.contract.commands import Input, Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT, Type
from ingest.errors import HeadraceError

pytestmark = pytest.mark.spark

RELATION = Relation((Column("id", Type("integer"), nullable=False), Column("a name", TEXT)))


@pytest.fixture(scope="module")
def target(plane: Plane) -> Input:
    shard = f"p{uuid.uuid4().hex[:8]}"
    engine.create_table(plane, shard, RELATION, 10)
    return Input("u1", shard, RELATION)


def rows(plane: Plane, target: Input, at: int) -> list[tuple[object, ...]]:
    query = Query("select * from u1 order by 1", {"u1": target}, at)
    return [tuple(row.values()) for row in engine.read(plane, query).data.to_pylist()]


def test_every_statement_is_one_moment(plane: Plane, target: Input) -> None:
    values = Query("select * from values (1, 'x'), (2, null), (3, 'z')", {}, 15)
    assert engine.insert(plane, target, values, 20) == 3
    assert engine.update(plane, target, {"a name": "concat(`a name`, '!')"}, "id > 1", 30) == 2
    assert engine.delete(plane, target, "`a name` is null", 40) == 1
    again = Query("select id + 10, `a name` from u1", {"u1": target}, 40)
    assert engine.insert(plane, target, again, 50) == 2
    assert rows(plane, target, 10) == []
    assert rows(plane, target, 29) == [(1, "x"), (2, None), (3, "z")]
    assert rows(plane, target, 30) == [(1, "x"), (2, None), (3, "z!")]
    assert rows(plane, target, 49) == [(1, "x"), (3, "z!")]
    assert [row[0] for row in rows(plane, target, 50)] == [1, 3, 11, 13]
    moved = engine.changes(plane, target, 20, 40).data.to_pylist()
    assert sorted((row["id"], row["a name"], *list(row.values())[2:]) for row in moved) == [
        (2, None, 40, -1),
        (3, "z", 30, -1),
        (3, "z!", 30, 1),
    ]
    with pytest.raises(HeadraceError, match="before the table's history"):
        rows(plane, target, 9)
    with pytest.raises(HeadraceError, match='null value in column "id" violates') as refused:
        engine.insert(plane, target, Query("select null, 'x'", {}, 50), 60)
    assert refused.value.sqlstate == "23502"
    assert engine.delete(plane, target, None, 70) == 4


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("select 1 / (id - id) from values (1) t(id)", "22012"),
        ("select cast(c as int) from values ('x') t(c)", "22P02"),
        ("select cast(c as tinyint) from values (300) t(c)", "22003"),
        ("select cast(c as decimal(3,1)) from values (300.5) t(c)", "22003"),
        ("select c + 1 from values (9223372036854775807) t(c)", "22003"),
        ("select nothing from u1", "42703"),
        ("select no_such(id) from u1", "42883"),
        ("select (1", "42601"),
    ],
)
def test_failures_are_sentences(plane: Plane, target: Input, sql: str, sqlstate: str) -> None:
    with pytest.raises(HeadraceError) as failed:
        engine.read(plane, Query(sql, {"u1": target}, 10))
    assert failed.value.sqlstate == sqlstate
    for text in (failed.value.message, failed.value.detail or ""):
        assert "org.apache" not in text
        assert "SQLSTATE" not in text


def test_types_without_running(plane: Plane, target: Input) -> None:
    sql = "select id, id + 1L as b, cast(1 as decimal(10,2)) c, `a name`, array(1) d from u1"
    relation = engine.analyze(plane, Query(sql, {"u1": target}, 10))
    assert [column.type.sql for column in relation.columns] == [
        "integer",
        "bigint",
        "numeric(10,2)",
        "text",
        "integer[]",
    ]
    assert engine.read(plane, Query("select 1 a, 2 a", {}, 1)).relation.names == ("a", "a")


def test_a_long_query_is_cut(plane: Plane) -> None:
    sql = "select count(*) from range(10000000000) a, range(10000) b where a.id % 7 = b.id % 11"
    started = time.monotonic()
    with pytest.raises(HeadraceError, match="statement timeout") as cut:
        engine.read(plane, Query(sql, {}, 1, timeout=1.5))
    assert cut.value.sqlstate == "57014"
    assert time.monotonic() - started < 8
