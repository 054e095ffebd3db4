"""Three sources on one upstream are one consumer there, and adding a table holds up no other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from bench import product as setting_up
from bench import upstream as filling
from tests.services.postgres import Postgres
from tests.services.product import Product

pytestmark = [
    pytest.mark.faults,
    pytest.mark.postgres,
    pytest.mark.spark,
    pytest.mark.timeout(600),
]
TABLES = 10
SOURCES = 3
LARGE = 300_000


@pytest.fixture(scope="module")
def shared(postgres: Postgres, busy_product: Product) -> Iterator[str]:
    """The upstream's DSN; three sources of one connection with ten tables of it."""
    dsn = postgres.create_database("shared")
    filling.make_small(dsn, TABLES, "everything")
    setting_up.connect(busy_product, "shared", dsn)
    for number in range(SOURCES):
        name = f"shared_{number}"
        setting_up.source(busy_product, name, "shared", "everything")
        mine = range(number, TABLES, SOURCES)
        setting_up.tables(busy_product, name, {f"shared_t{i}": f"t{i}" for i in mine})
    setting_up.wait_running(busy_product, [f"shared_t{i}" for i in range(TABLES)])
    yield dsn
    for number in range(SOURCES):
        busy_product.sql(f"DROP SOURCE IF EXISTS shared_{number} CASCADE")


def test_others_go_on_while_a_large_table_is_added(shared: str, busy_product: Product) -> None:
    """Progress never stands still for long, and the other tables stay readable."""
    truth = filling.make_wide(shared, "wide", LARGE)
    with psycopg.connect(shared, autocommit=True) as upstream:
        upstream.execute("alter publication everything add table wide")
        busy_product.sql("ALTER SOURCE shared_0 REFRESH REFERENCES")
        setting_up.tables(busy_product, "shared_0", {"shared_wide": "wide"})
        longest, moved = 0.0, time.monotonic()
        before, counted = _progress(busy_product), 0
        while _status(busy_product, "shared_wide") != "running":
            upstream.execute("update t1 set amt = amt + 1 where id = 2")
            upstream.execute("update wide set score = 0 where id %% 50000 = 1", ())
            now = _progress(busy_product)
            if now > before:
                longest = max(longest, time.monotonic() - moved)
                before, moved = now, time.monotonic()
            counted = int(busy_product.value("SELECT count(*) FROM shared_t1") or 0)
    assert longest < 15, longest
    assert counted == 1000
    found = busy_product.sql("SELECT count(*), sum(id), count(note) FROM shared_wide")[0]
    assert found == [str(truth.rows), str(truth.ids), str(truth.notes)]


def test_one_slot_and_one_reader_until_the_last_source_goes(
    shared: str, busy_product: Product
) -> None:
    feeds = busy_product.sql("SELECT id, slot, sources FROM mz_internal.mz_feeds")
    assert len(feeds) == 1, feeds
    assert len(feeds[0][2] or ()) == SOURCES, feeds
    _until(lambda: _consumers(shared) == ([feeds[0][1]], 1), lambda: _consumers(shared))
    with psycopg.connect(shared, autocommit=True) as upstream:
        for number in range(TABLES):
            name = sql.Identifier(f"t{number}")
            upstream.execute(sql.SQL("delete from {} where id = 1").format(name))
        wanted = _written(upstream)
    _until(lambda: _progress(busy_product) >= wanted, lambda: "the sources do not follow")
    for number in (0, 1, TABLES - 1):
        assert busy_product.value(f"SELECT count(*) FROM shared_t{number}") == "999"
    for number in range(SOURCES - 1):
        busy_product.sql(f"DROP SOURCE shared_{number} CASCADE")
    time.sleep(6)
    assert _consumers(shared) == ([feeds[0][1]], 1)
    busy_product.sql(f"DROP SOURCE shared_{SOURCES - 1} CASCADE")
    _until(lambda: _consumers(shared) == ([], 0), lambda: _consumers(shared))
    _until(
        lambda: not busy_product.sql("SELECT id FROM mz_internal.mz_feeds"),
        lambda: busy_product.sql("SELECT * FROM mz_internal.mz_feeds"),
    )


def _status(product: Product, table: str) -> str | None:
    rows = product.sql("SELECT name, status FROM mz_internal.mz_source_statuses")
    return next((status for name, status in rows if name == table), None)


def _progress(product: Product) -> int:
    return int(product.value("SELECT lsn FROM shared_0") or 0)


def _written(upstream: psycopg.Connection[tuple[object, ...]]) -> int:
    """The newest position of the upstream's log."""
    query = "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
    row = upstream.execute(query).fetchone()
    return int(str(row[0])) if row else 0


def _consumers(dsn: str) -> tuple[list[str], int]:
    """Upstream's slots of this database, temporary ones too, and its walsenders."""
    with psycopg.connect(dsn, autocommit=True) as upstream:
        slots = upstream.execute(
            "select slot_name from pg_replication_slots where database = current_database()"
        ).fetchall()
        senders = upstream.execute(
            "select count(*) from pg_stat_activity"
            " where backend_type = 'walsender' and datname = current_database()"
        ).fetchone()
    return [name for (name,) in slots], senders[0] if senders else 0


def _until(holds: Callable[[], bool], found: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, found()
        time.sleep(0.2)
