"""The Spark text, the errors' positions and the choice of engine; without Spark."""

from __future__ import annotations

import re

import pytest

from catalog.query.compile import inspect
from catalog.query.types import from_spark
from ingest.contract.types import Type
from ingest.errors import HeadraceError
from tests.catalog.query.shop import Shop, compiled, lines, parse

CASES = lines("cases.sql", 2)
GOLDEN = {
    "SELECT name FROM shopper": "SELECT t1.`name` AS `name` FROM u1 AS t1",
    "SELECT units / 2 FROM purchase": (
        "SELECT CAST((t1.`units` DIV 2) AS INT) AS `?column?` FROM u2 AS t1"
    ),
    "SELECT id FROM purchase ORDER BY units DESC": (
        "SELECT t1.`id` AS `id` FROM u2 AS t1 ORDER BY t1.`units` DESC NULLS FIRST"
    ),
    "SELECT mz_now()": "SELECT CAST('1700000000000' AS BIGINT) AS `mz_now`",
    "SELECT day - day AS d FROM purchase": (
        "SELECT DATEDIFF(t1.`day`, t1.`day`) AS `d` FROM u2 AS t1"
    ),
    "SELECT id FROM public.shopper WHERE id = '3'": (
        "SELECT t1.`id` AS `id` FROM u1 AS t1 WHERE (t1.`id` = CAST(TRIM('3') AS INT))"
    ),
}


@pytest.mark.parametrize(("sql", "spark"), GOLDEN.items())
def test_golden(sql: str, spark: str) -> None:
    assert compiled(sql).sql == spark


@pytest.mark.parametrize(("name", "sql"), CASES, ids=[case[0] for case in CASES])
def test_every_case_compiles_to_ids_only(name: str, sql: str) -> None:
    done = compiled(sql)
    assert done.items <= {"u1", "u2"}
    assert not re.search("(FROM|JOIN) (shopper|purchase|buyer|busy)", done.sql)


@pytest.mark.parametrize(
    ("sql", "message", "at"),
    [
        ("SELECT nme FROM shopper", 'column "nme" does not exist', 7),
        ("SELECT s.nme FROM shopper s", 'column "s.nme" does not exist', 7),
        ("SELECT 1 FROM nowhere", "unknown catalog item 'nowhere'", 14),
        ("SELECT 1 FROM a.b.c", "unknown catalog item 'a.b.c'", 18),
        ("SELECT frob(1)", 'function "frob" does not exist', 7),
        ("SELECT id FROM shopper a, purchase b", 'column reference "id" is ambiguous', 7),
    ],
)
def test_messages_and_positions(sql: str, message: str, at: int) -> None:
    with pytest.raises(HeadraceError) as failure:
        compiled(sql)
    assert (failure.value.message, failure.value.position) == (message, at)


def test_a_similar_name_is_hinted() -> None:
    with pytest.raises(HeadraceError) as failure:
        compiled("SELECT nme FROM shopper")
    assert failure.value.hint == 'The similarly named column "name" does exist.'


@pytest.mark.parametrize(
    ("sql", "kind", "items", "views"),
    [
        ("SELECT * FROM busy", "data", {"u1", "u2"}, {"u3", "u4"}),
        ("WITH shopper AS (SELECT 1 AS id) SELECT * FROM shopper", "constant", set(), set()),
        ("WITH s AS (SELECT * FROM shopper) SELECT * FROM s", "data", {"u1"}, set()),
        ("SELECT * FROM mz_tables", "system", {"mz_catalog.mz_tables"}, set()),
        ("SELECT 1 AS id", "constant", set(), set()),
        ("SELECT current_user, version()", "constant", set(), set()),
        ("SELECT 2.5::int", "data", set(), set()),
        ("SELECT 7 / 2", "data", set(), set()),
        ("SELECT i FROM generate_series(1, 2) i", "data", set(), set()),
    ],
)
def test_what_is_read(sql: str, kind: str, items: set[str], views: set[str]) -> None:
    reads = inspect(parse(sql), Shop())
    assert (reads.kind, set(reads.items), set(reads.views)) == (kind, items, views)


def test_system_and_data_do_not_mix() -> None:
    with pytest.raises(HeadraceError, match="cannot join system catalog relations"):
        inspect(parse("SELECT * FROM mz_tables t JOIN shopper s ON s.name = t.id"), Shop())


def test_types_are_known_before_spark() -> None:
    done = compiled(
        "SELECT id, price, doc, labels, count(*), sum(units), avg(units) FROM purchase"
        " GROUP BY id, price, doc, labels"
    )
    assert [column.type.sql for column in done.relation.columns] == [
        "integer", "numeric(10,2)", "jsonb", "text[]", "bigint", "bigint", "numeric",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spark", "type_"),
    [
        ("int", Type("integer")),
        ("decimal(10,2)", Type("numeric", 10, 2)),
        ("decimal(38,18)", Type("numeric")),
        ("array<string>", Type("text", array=True)),
        ("timestamp_ntz", Type("timestamp")),
        ("timestamp", Type("timestamp with time zone")),
    ],
)
def test_types_from_spark(spark: str, type_: Type) -> None:
    assert from_spark(spark) == type_
