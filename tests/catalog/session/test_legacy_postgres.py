"""Sources of the older form on a real PostgreSQL: what its tables become."""

from __future__ import annotations

import psycopg
import pytest

from catalog import desired, snapshot
from catalog.plan.picture import Entry
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of, run, session
from tests.services.postgres import Postgres

__all__ = ["run", "session"]
pytestmark = pytest.mark.postgres
REGION = "local/embedded"
SCHEMA = """
    create table orders (id int primary key, note text, at box);
    create table lines (id int primary key, orders_id int);
    create schema other;
    create table other.orders (id int primary key, place point);
    create publication everything for all tables;
"""
SOURCE = "CREATE SOURCE shop FROM POSTGRES CONNECTION pg (PUBLICATION 'everything'"


@pytest.fixture
def upstream(postgres: Postgres, request: pytest.FixtureRequest, run: Run) -> str:
    """The name of a database of the test's own, with a connection `pg` to it."""
    name = f"legacy_{abs(hash(request.node.name)) % 10**8}"
    with psycopg.connect(postgres.create_database(name), autocommit=True) as made:
        made.execute(SCHEMA)
    run(f"CREATE SECRET pw AS '{postgres.password}'")
    run(
        f"CREATE CONNECTION pg TO POSTGRES (HOST '{postgres.host}', PORT {postgres.port}, "
        f"DATABASE '{name}', USER '{postgres.user}', PASSWORD SECRET pw)"
    )
    run("ALTER SYSTEM SET force_source_table_syntax = off")
    return name


def entry(name: str) -> Entry:
    return snapshot.current(REGION).by_path["headrace", "public", name]


def refused(run: Run, sql: str) -> HeadraceError:
    with pytest.raises(HeadraceError) as caught:
        run(sql)
    return caught.value


def test_what_is_refused(upstream: str, run: Run) -> None:
    error = refused(run, f"{SOURCE}) FOR ALL TABLES")
    assert error.message == "referenced tables use unsupported types"
    assert error.detail == "Columns: other.orders.place (point), public.orders.at (box)"
    error = refused(run, f"{SOURCE}, TEXT COLUMNS (orders.at)) FOR ALL TABLES")
    assert error.message == "invalid TEXT COLUMNS option value: table orders is ambiguous"
    error = refused(run, f"{SOURCE}, TEXT COLUMNS (at)) FOR ALL TABLES")
    assert error.message == (
        "invalid TEXT COLUMNS option value: column name 'at' must have at least a table "
        "qualification"
    )
    error = refused(run, f"{SOURCE}, TEXT COLUMNS (public.orders.at)) FOR TABLES (lines)")
    assert error.message == "TEXT COLUMNS refers to table not currently being added"
    columns = "TEXT COLUMNS (public.orders.at), EXCLUDE COLUMNS (other.orders.place)"
    error = refused(run, f"{SOURCE}, {columns}) FOR ALL TABLES")
    assert error.message == "multiple subsources would be named headrace.public.orders"
    error = refused(run, f"{SOURCE}, {columns}) FOR TABLES (orders)")
    assert error.message.startswith("reference orders is ambiguous")
    assert list(snapshot.current(REGION).by_path) == [
        ("headrace", "public", "pw"),
        ("headrace", "public", "pg"),
    ]


def test_chosen_tables(upstream: str, run: Run) -> None:
    columns = f"TEXT COLUMNS ({upstream}.public.orders.at, public.lines.orders_id)"
    run(
        f"{SOURCE}, {columns}, EXCLUDE COLUMNS (other.orders.place)) "
        "FOR TABLES (public.orders AS o, lines, other.orders)"
    )
    assert [c.name for c in entry("orders").relation.columns] == ["id"]
    assert [c.type.sql for c in entry("o").relation.columns] == ["integer", "text", "text"]
    assert entry("lines").table.text_columns == ("orders_id",)
    ((_, shown),) = rows_of(run("SHOW CREATE SOURCE o")[0])
    assert shown == (
        "CREATE SUBSOURCE headrace.public.o (id integer NOT NULL, note text, at text) "
        "OF SOURCE headrace.public.shop "
        "WITH (EXTERNAL REFERENCE = public.orders, TEXT COLUMNS = (at))"
    )
    feed = desired.feed_command(REGION, entry("shop").source.feed)
    assert feed is not None
    assert len({export.snapshot_group for export in feed.exports}) == 1
    tables = (
        "SELECT schema_name, table_name FROM mz_internal.mz_postgres_source_tables ORDER BY id"
    )
    assert rows_of(run(tables)[0]) == [
        ("public", "orders"),
        ("public", "lines"),
        ("other", "orders"),
    ]


def test_schemas_and_later_tables(upstream: str, run: Run) -> None:
    run(f"{SOURCE}, TEXT COLUMNS (orders.at)) FOR SCHEMAS (public)")
    assert entry("lines").fed
    run(
        "ALTER SOURCE shop ADD SUBSOURCE other.orders AS others "
        "WITH (EXCLUDE COLUMNS (other.orders.place))"
    )
    assert entry("others").relation.names == ("id",)
    error = refused(run, "ALTER SOURCE shop ADD SUBSOURCE public.lines AS again")
    assert error.message == "another subsource already refers to public.lines"
    error = refused(run, "DROP CONNECTION pg")
    assert "still depended upon by source" in error.message
    run("DROP CONNECTION pg CASCADE")
    assert [e.name for e in snapshot.current(REGION).entries.values()] == ["pw"]
