"""Sources become tables, and sources again, under a feed that runs and people who read."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import psycopg
import pytest

from tests.checker.following import Follower
from tests.services import product
from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.walks.regions import Region, connection, until

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.timeout(1200)]
SUMS = ("SELECT count(*), sum(v) FROM orders", "SELECT count(*), sum(v) FROM lines")


@dataclass
class Writer:
    """Writes upstream until it is stopped: one transaction over both tables at a time."""

    dsn: str
    stopped: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def run(self) -> None:
        """Insert, and change what was inserted before."""
        with psycopg.connect(self.dsn) as upstream:
            number = 1000
            while not self.stopped.wait(0.1):
                number += 1
                upstream.execute("insert into orders values (%s, 1)", (number,))
                upstream.execute("insert into lines values (%s, 2)", (number,))
                upstream.execute("update orders set v = v + 1 where id = %s", (number - 7,))
                upstream.commit()

    def start(self) -> None:
        """Begin."""
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def stop(self) -> None:
        """End after the transaction that is under way."""
        self.stopped.set()
        if self.thread is not None:
            self.thread.join(30)


@dataclass
class Reader:
    """Another session that asks all the time, and remembers every answer and how long it took."""

    region: Region
    stopped: threading.Event = field(default_factory=threading.Event)
    answers: list[tuple[float, float, list[str | None]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Ask for both tables of a source in one query, so that they are of one moment."""
        while not self.stopped.is_set():
            began = time.monotonic()
            try:
                (row,) = self.region.sql(
                    "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM lines), "
                    "(SELECT count(*) FROM ticks), (SELECT n FROM kept)"
                )
            except AssertionError as error:
                self.failures.append(str(error))
            else:
                self.answers.append((began, time.monotonic() - began, row))

    def slowest(self, since: float, until: float) -> float:
        """The longest that an answer took of those asked for between the two moments."""
        took = [t for began, t, _ in self.answers if since <= began + t and began <= until]
        return max(took, default=0.0)


@pytest.fixture(scope="module")
def older() -> Iterator[Region]:
    """A region that allows the older form."""
    with product.running() as running:
        running.sql("ALTER SYSTEM SET force_source_table_syntax = off")
        yield Region(running, "local/embedded")


def _feeds(running: Product) -> list[tuple[object, ...]]:
    """Feeds with their epochs and slots, and since when each table is readable: what a new
    snapshot or a new process would change."""
    with sqlite3.connect(running.home / "catalog.sqlite3") as catalog:
        feeds = catalog.execute("select gid, epoch, slot from catalog_feed order by gid")
        tables = catalog.execute(
            "select i.shard, p.readable_from, p.rows_staged from catalog_exportprogress p "
            "join catalog_item i on i.id = p.item_id order by i.shard"
        )
        return [*feeds.fetchall(), *tables.fetchall()]


def _processes(running: Product) -> list[int]:
    return sorted(p.pid for p in running.processes("feed"))


def _slots(dsn: str) -> list[tuple[object, ...]]:
    """Slots with the process that reads each: it is another one after a new connection."""
    with psycopg.connect(dsn) as upstream:
        query = "select slot_name, active_pid from pg_replication_slots where not temporary"
        return upstream.execute(query + " and database = current_database()").fetchall()


def _equal(region: Region, dsn: str) -> bool:
    with psycopg.connect(dsn) as upstream:
        there = [upstream.execute(query).fetchone() for query in SUMS]
    here = [tuple(int(str(value)) for value in region.sql(query)[0]) for query in SUMS]
    return here == there


def test_applied_and_rolled_back_under_a_running_feed(
    older: Region, postgres: Postgres, record_property: Callable[[str, object], None]
) -> None:
    dsn = postgres.create_database("moving")
    with psycopg.connect(dsn, autocommit=True) as upstream:
        upstream.execute(
            "create table orders (id int primary key, v int);"
            "create table lines (id int primary key, v int);"
            "insert into orders select i, 0 from generate_series(1, 1000) i;"
            "insert into lines select i, 0 from generate_series(1, 1000) i;"
            "create publication everything for all tables"
        )
    older.sql(connection(postgres.password, postgres.host, postgres.port, "postgres", "moving"))
    older.sql(
        "CREATE SOURCE shop FROM POSTGRES CONNECTION pg (PUBLICATION 'everything') FOR ALL TABLES;"
        "CREATE SOURCE ticks FROM LOAD GENERATOR COUNTER (TICK INTERVAL '500ms')"
    )
    older.sql("CREATE MATERIALIZED VIEW kept AS SELECT count(*) AS n FROM orders")
    until(lambda: older.running("orders", "lines", "ticks"))
    older.becomes("SELECT n >= 1000 FROM kept", value=True)
    followers = [Follower(older.product, name) for name in ("orders", "ticks", "kept")]
    writer, reader = Writer(dsn), Reader(replace(older, product=replace(older.product)))
    reader.region.product._connection = None
    watching = threading.Thread(target=reader.run)
    writer.start()
    watching.start()
    for follower in followers:
        follower.start()
    try:
        until(lambda: all(follower.progress for follower in followers))
        time.sleep(5)
        marks = _walk(older, dsn, reader)
        time.sleep(3)
    finally:
        writer.stop()
        reader.stopped.set()
        watching.join(120)
    until(lambda: _equal(older, dsn))
    _judge(reader)
    for follower in followers:
        _told_once(older, follower)
    for name, (since, end) in marks.items():
        record_property(f"slowest read, {name} (s)", reader.slowest(since, end))
        print(f"{name}: {end - since:.2f} s, slowest read {reader.slowest(since, end):.2f} s")


def _told_once(region: Region, follower: Follower) -> None:
    """One subscription went on through both: what it was told adds up to what there is."""
    after = int(str(region.value("SELECT mz_now()")))
    until(lambda: follower.progress > after)
    follower.stop()
    assert (follower.wrong, follower.resumed, follower.renewed) == ([], 0, 0)
    progress, seen = follower.moment()
    now = region.sql(f"SELECT * FROM {follower.name} AS OF {progress - 1}")
    assert seen == Counter(tuple(row) for row in now)


def _walk(older: Region, dsn: str, reader: Reader) -> dict[str, tuple[float, float]]:
    """Plan, apply and roll back; when each began and ended."""
    post = older.product.post
    before = _feeds(older.product), _processes(older.product), _slots(dsn)
    began = time.monotonic()
    marks = {"before": (began - 5, began)}
    gid = post("/api/migrations", {"kind": "sources to tables"})["id"]
    for what, state, kind in (
        ("apply", "applied", "table"),
        ("rollback", "rolled back", "subsource"),
    ):
        began = time.monotonic()
        done = post(f"/api/migrations/{gid}/{what}", {})
        marks[what] = (began, time.monotonic())
        assert done["state"] == state
        print(f"{what}: statements that write waited {done['pause']} ms")
        until(partial(_asked_again, reader, len(reader.answers) + 2))
        time.sleep(3)
        assert (_feeds(older.product), _processes(older.product), _slots(dsn)) == before
        assert _kind(older, "orders") == kind
        assert _kind(older, "ticks") == ("table" if kind == "table" else "load-generator")
    return marks


def _asked_again(reader: Reader, answers: int) -> bool:
    return len(reader.answers) > answers


def _kind(region: Region, name: str) -> str:
    """What an item is, as its source's type says where it is none of its own."""
    rows = region.sql("SELECT name, type FROM mz_sources")
    return str({row[0]: row[1] for row in rows}.get(name, "table"))


def _judge(reader: Reader) -> None:
    """Every question was answered, with what was there and never less."""
    assert not reader.failures
    rows = [[int(str(value)) for value in row] for _, _, row in reader.answers]
    assert len(rows) > 6
    assert all(orders == lines == kept for orders, lines, _, kept in rows)
    assert all(
        all(now >= then for now, then in zip(after, before, strict=True))
        for before, after in pairwise(rows)
    )
    assert rows[-1][0] > rows[0][0]
