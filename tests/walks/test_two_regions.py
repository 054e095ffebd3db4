"""Two regions in one product: the same names and ids, and nothing in common."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection

import psycopg
import pytest

from tests.services import product
from tests.services.postgres import Postgres
from tests.services.product import SqlFailure
from tests.walks.regions import BUSY, Region, connection, until

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.timeout(1200)]
OWN, OTHER = "local/embedded", "aws/us-east-1"


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Region, Region]]:
    """The regions of a product of their own, so that ids begin at u1 and f1 in each."""
    with product.running(**BUSY) as running:
        assert running.manage("regions", "enable", OTHER) == f"{OTHER} made\n"
        yield Region(running, OWN), Region(running, OTHER)


def feeds(region: Region) -> list[list[str | None]]:
    return region.sql("SELECT id, slot FROM mz_internal.mz_feeds ORDER BY id")


def processes(region: Region, feed: str) -> list[int]:
    words = ("feed", feed, "--region", region.name)
    return [one.pid for one in region.product.processes(*words)]


def test_generators_and_views(both: tuple[Region, Region]) -> None:
    for region in both:
        region.sql(
            "CREATE SOURCE ticks FROM LOAD GENERATOR COUNTER (TICK INTERVAL '100ms');"
            "CREATE TABLE counted FROM SOURCE ticks (REFERENCE counter);"
            "CREATE TABLE notes (who text);"
            "CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, max(counter) - min(counter) "
            "AS width FROM counted;"
            "CREATE MATERIALIZED VIEW said AS SELECT upper(who) AS who FROM notes"
        )
        region.sql(f"INSERT INTO notes VALUES ('{region.name}')")
    ids = [region.sql("SELECT id, name FROM mz_objects WHERE id LIKE 'u%'") for region in both]
    assert ids[0] == ids[1]
    assert [[row[0] for row in feeds(region)] for region in both] == [["f1"], ["f1"]]
    for region in both:
        region.becomes("SELECT n > 10 FROM total", value=True)
        whole = "SELECT count(*) = count(DISTINCT counter), count(*) = max(counter) FROM counted"
        assert [str(value) for value in region.sql(whole)[0]] == ["True", "True"]
        assert str(region.value("SELECT n = width + 1 FROM total")) == "True"
        assert region.sql("SELECT who FROM notes") == [[region.name]]
        region.becomes("SELECT who FROM said", region.name.upper())
        assert len(processes(region, "f1")) == 1
    home = both[0].product.home / "warehouse"
    folders = [home / "feeds" / "f1", home / "regions" / OTHER / "feeds" / "f1"]
    assert all(folder.is_dir() for folder in folders)


def test_one_upstream(both: tuple[Region, Region], postgres: Postgres) -> None:
    with psycopg.connect(postgres.create_database("regions"), autocommit=True) as upstream:
        upstream.execute(
            "create table orders (id int primary key, v int);"
            "insert into orders select i, i from generate_series(1, 100) i;"
            "create publication everything for all tables"
        )
        where = postgres.password, postgres.host, postgres.port, postgres.user, "regions"
        for region in both:
            region.sql(connection(*where))
            region.sql("CREATE SOURCE shop FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
            region.sql("CREATE TABLE orders FROM SOURCE shop (REFERENCE public.orders)")
        for region in both:
            region.becomes("SELECT count(*) FROM orders", 100)
        found = [feeds(region)[-1] for region in both]
        slots = [str(slot) for _, slot in found]
        names = [str(name) for name, _ in found]
        assert slots[0] != slots[1]
        assert _slots(upstream) == sorted(slots)
        upstream.execute(
            "update orders set v = 0 where id <= 50; delete from orders where id > 90"
        )
        for region in both:
            region.becomes("SELECT sum(v) FROM orders", sum(range(51, 91)))
        own = processes(both[0], names[0])
        both[1].sql("DROP SOURCE shop CASCADE")
        until(lambda: _slots(upstream) == [slots[0]])
        with pytest.raises(SqlFailure, match="orders"):
            both[1].sql("SELECT * FROM orders")
        upstream.execute("insert into orders values (1000, 5)")
        both[0].becomes("SELECT max(v) FROM orders WHERE id = 1000", 5)
        assert processes(both[0], names[0]) == own
        gone = both[0].product.home / "warehouse" / "regions" / OTHER / "feeds" / names[1]
        until(lambda: not gone.exists())


def _slots(upstream: psycopg.Connection[tuple[str]]) -> list[str]:
    rows = upstream.execute(
        "select slot_name from pg_replication_slots where database = 'regions' "
        "and not temporary order by 1"
    )
    return [name for (name,) in rows.fetchall()]


def test_webhooks(both: tuple[Region, Region]) -> None:
    for region in both:
        region.sql("CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT")
        url = str(region.value("SELECT url FROM mz_internal.mz_webhook_sources"))
        line = HTTPConnection("127.0.0.1", region.product.port, timeout=60)
        path = url[url.index("/api/") :]
        line.request("POST", path, region.name, {"Content-Type": "text/plain"})
        assert line.getresponse().status == 200
        line.close()
    for region in both:
        region.becomes("SELECT body FROM hook", region.name)
        assert region.value("SELECT count(*) FROM hook") == "1"
        region.sql("DROP TABLE hook")


def test_psql_reads_what_it_names(both: tuple[Region, Region]) -> None:
    running = both[0].product
    for region in both:
        with psycopg.connect(
            host="127.0.0.1",
            port=int(running.environment["HEADRACE_PGPORT"]),
            user=running.email,
            password=running.password,
            dbname="headrace",
            options=f"--region={region.name}",
        ) as line:
            assert line.execute("SELECT who FROM notes").fetchall() == [(region.name,)]


def test_dropping_everything_of_one_leaves_the_other(both: tuple[Region, Region]) -> None:
    own = processes(both[0], "f1")
    both[1].sql("DROP SOURCE ticks CASCADE; DROP TABLE notes CASCADE")
    warehouse = both[0].product.home / "warehouse"
    until(lambda: not processes(both[1], "f1"))
    until(lambda: not (warehouse / "regions" / OTHER / "feeds" / "f1").exists())
    assert (warehouse / "feeds" / "f1").is_dir()
    assert processes(both[0], "f1") == own
    assert int(str(both[0].value("SELECT n FROM total"))) > 10
    both[0].sql("INSERT INTO notes VALUES ('more')")
    both[0].becomes("SELECT count(*) FROM said", 2)
