"""What psql and SQLAlchemy ask of pg_catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.catalog.system.conftest import Maker, rows

ASKED = (Path(__file__).parent / "psql.sql").read_text(encoding="utf-8").split("\n-- ")
PARTED = [text.removeprefix("-- ").partition("\n") for text in ASKED]
QUERIES = [(name, sql) for name, _, sql in PARTED]


@pytest.mark.parametrize(("name", "sql"), QUERIES, ids=[name for name, _ in QUERIES])
def test_psql(name: str, sql: str, seeded: Maker) -> None:
    rows(sql.rstrip().rstrip(";").replace("@bids", "20004"))


def of(name: str) -> str:
    return dict(QUERIES)[name].rstrip().rstrip(";").replace("@bids", "20004")


def test_dt(seeded: Maker) -> None:
    found = rows(of("\\dt 1"))
    assert [row[:3] for row in found] == [
        ("public", "bids", "table"),
        ("public", "notes", "table"),
        ("public", "shop", "table"),
    ]


def test_describe(seeded: Maker) -> None:
    columns = rows(of("\\d bids 3"))
    assert [row[:2] for row in columns] == [
        ("id", "integer"),
        ("amount", "numeric(10,2)"),
        ("tags", "text[]"),
    ]


def test_schemas_and_databases(seeded: Maker) -> None:
    assert ("public", "ada@example.com") in rows(of("\\dn 1"))
    assert rows(of("\\l 1"))[0][:3] == ("headrace", "ada@example.com", "UTF8")


def test_information_schema(seeded: Maker) -> None:
    query = (
        "SELECT column_name, data_type, numeric_precision, is_nullable"
        " FROM information_schema.columns WHERE table_name = 'bids' ORDER BY ordinal_position"
    )
    assert rows(query) == [
        ("id", "integer", None, "NO"),
        ("amount", "numeric", 10, "YES"),
        ("tags", "ARRAY", None, "YES"),
    ]


def test_drivers(seeded: Maker) -> None:
    assert rows("SELECT pg_catalog.version()")[0][0].startswith("PostgreSQL 15")
    assert rows("select current_schema()") == [("public",)]
    assert rows("select distinct nspname from pg_namespace order by 1")[-1] == ("public",)
    assert rows("SELECT to_regtype('hstore')") == [(None,)]
    assert rows("SELECT 'bids'::regclass::oid") == [(20004,)]
    listed = (
        "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace"
        " ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace"
        " WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p'])"
        " AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid)"
        " AND pg_catalog.pg_namespace.nspname != 'pg_catalog' ORDER BY 1"
    )
    assert rows(listed) == [("bids",), ("notes",), ("shop",)]


def test_lists_of_relations_leave_built_in_ones_out(seeded: Maker) -> None:
    names = {row[1] for row in rows(of("\\d 1"))}
    assert names == {"bids", "notes", "shop", "big"}
    visible = (
        "SELECT c.relname FROM pg_catalog.pg_class c"
        " LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relname OPERATOR(pg_catalog.~) '^(mz_tables)$' COLLATE pg_catalog.default"
        " AND pg_catalog.pg_table_is_visible(c.oid)"
    )
    assert rows(visible) == [("mz_tables",)]
