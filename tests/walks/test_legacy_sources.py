"""Sources of the older form in the whole product: what they fill is read like any table."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.walks.regions import until

pytestmark = [pytest.mark.spark, pytest.mark.postgres]


@pytest.fixture
def older(busy_product: Product) -> Iterator[Product]:
    """A product whose region allows the older form; what is made in schema `older` goes."""
    busy_product.sql("ALTER SYSTEM SET force_source_table_syntax = off; CREATE SCHEMA older")
    yield busy_product
    busy_product.sql("DROP SCHEMA older CASCADE; ALTER SYSTEM RESET force_source_table_syntax")


def running(product: Product, *names: str) -> bool:
    rows = product.sql("SELECT name, status, type FROM mz_internal.mz_source_statuses")
    found = {row[0]: row[1] for row in rows}
    return all(found.get(name) == "running" for name in names)


def test_generators(older: Product) -> None:
    older.sql(
        "CREATE SOURCE older.house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '100ms') "
        "FOR TABLES (bids, auctions AS sales);"
        "CREATE SOURCE older.ticks FROM LOAD GENERATOR COUNTER (TICK INTERVAL '100ms')"
    )
    until(lambda: running(older, "bids", "sales", "ticks"))
    (row,) = older.sql(
        "SELECT count(*), count(DISTINCT b.id), max(b.auction_id) - max(s.id) "
        "FROM older.bids b JOIN older.sales s ON s.id = b.auction_id"
    )
    assert row[0] == row[1] != "0"
    assert row[2] == "0"
    (counter,) = older.sql("SELECT count(*), max(counter) FROM older.ticks")
    assert counter[0] == counter[1] != "0"
    assert int(str(older.value('SELECT "offset" FROM older.ticks_progress'))) >= int(
        str(counter[1])
    )
    older.sql("CREATE TABLE older.again FROM SOURCE older.ticks (REFERENCE counter)")
    until(lambda: running(older, "again"))
    both = "SELECT (SELECT max(counter) FROM older.again) - (SELECT max(counter) FROM older.ticks)"
    assert older.value(both) == "0"
    older.sql("ALTER SOURCE older.house DROP SUBSOURCE older.sales")
    assert older.value("SELECT count(*) FROM older.bids") != "0"


def test_postgres(older: Product, postgres: Postgres) -> None:
    with psycopg.connect(postgres.create_database("older_walk"), autocommit=True) as upstream:
        upstream.execute(
            "create table k (id int primary key, at point, v text);"
            "create table l (id int primary key);"
            "insert into k select i, point(i, i), 'v' from generate_series(1, 100) i;"
            "insert into l select generate_series(1, 10); create publication p for all tables"
        )
        older.sql(
            f"CREATE SECRET older.pw AS '{postgres.password}';"
            f"CREATE CONNECTION older.pg TO POSTGRES (HOST '{postgres.host}', "
            f"PORT {postgres.port}, DATABASE 'older_walk', USER '{postgres.user}', "
            "PASSWORD SECRET older.pw);"
            "CREATE SOURCE older.shop FROM POSTGRES CONNECTION older.pg (PUBLICATION 'p', "
            "TEXT COLUMNS (public.k.at), EXCLUDE COLUMNS (k.v)) FOR SCHEMAS (public)"
        )
        until(lambda: running(older, "k", "l"))
        assert older.sql("SELECT * FROM older.k WHERE id = 7") == [["7", "(7,7)"]]
        upstream.execute(
            "begin; update k set at = point(0, 0) where id = 7; delete from l where id > 5; commit"
        )
        until(lambda: older.sql("SELECT * FROM older.k WHERE id = 7") == [["7", "(0,0)"]], 30)
        assert older.value("SELECT count(*) FROM older.l") == "5"
        assert older.value("SELECT lsn FROM older.shop_progress") != "0"
        upstream.execute("create table late (id int primary key); insert into late values (1)")
        older.sql("ALTER SOURCE older.shop ADD SUBSOURCE public.late")
        until(lambda: running(older, "late"))
        assert older.value("SELECT count(*) FROM older.late") == "1"
