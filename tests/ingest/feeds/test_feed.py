"""A whole feed against a real PostgreSQL and a real Spark."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import psycopg
import pytest

from ingest import delta
from ingest.contract.commands import Export, Feed, Input, Query
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget, Secret
from ingest.errors import HeadraceError, Terminal
from ingest.feeds.postgres import drop_feed, run_feed
from ingest.feeds.postgres.stream import lsn_number
from ingest.tables import apply, changes, reading
from tests.ingest.feeds import replay
from tests.ingest.feeds.host import MemoryHost, exports_of, wait_for
from tests.services.postgres import Postgres

pytestmark = [pytest.mark.postgres, pytest.mark.spark]


@dataclass
class Upstream:
    plane: Plane
    session: psycopg.Connection[tuple[Any, ...]]
    feed: Feed
    host: MemoryHost
    thread: threading.Thread | None = None
    error: BaseException | None = None

    def start(self) -> None:
        self.feed = replace(self.feed, epoch=self.feed.epoch + 1)
        exports = self.host.feed.exports if self.host.feed else ()
        self.host = MemoryHost(replace(self.feed, exports=exports))
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            run_feed(self.plane, self.host)
        except HeadraceError as error:
            self.error = error

    def stop(self) -> None:
        kept = self.host.feed
        self.host.feed = None
        if self.thread is not None:
            self.thread.join(30)
        self.host.feed = kept

    def add(self, group: str = "g1") -> dict[str, Export]:
        assert isinstance(self.feed.target, PostgresTarget)
        assert self.host.feed is not None
        known = {export.table for export in self.host.feed.exports}
        exports = exports_of(self.feed.target, self.feed.publication, group)
        self.host.add(*(export for export in exports if export.table not in known))
        return {export.name: export for export in exports}

    def running(self, count: int) -> None:
        wait_for(lambda: self.statuses().get("running", 0) >= count)

    def statuses(self) -> Counter[str]:
        return Counter(report.status for report in self.host.exports.values())

    def caught_up(self) -> None:
        row = self.session.execute("select pg_current_wal_insert_lsn()::text").fetchone()
        assert row is not None
        wanted = lsn_number(row[0])
        wait_for(lambda: self.host.last.upto >= wanted)

    def first(self, export: Export) -> int:
        """The time from which the table is readable."""
        return self.host.exports[export.table].readable_from

    def matches(self, export: Export) -> None:
        """The table here equals the table upstream."""
        last = delta.versions(delta.base_path(self.plane, export.shard))[-1]
        position = json.loads(last.metadata)["frontier_position"]
        here = replay.contents(self.plane, self.feed.id, export, position)
        query = psycopg.sql.SQL("select * from {}").format(psycopg.sql.Identifier(export.name))
        rows = self.session.execute(query).fetchall()
        there = Counter(tuple(None if v is None else str(v) for v in row) for row in rows)
        assert here == there


@pytest.fixture
def upstream(
    request: pytest.FixtureRequest, postgres: Postgres, plane: Plane
) -> Iterator[Upstream]:
    name = request.node.name[:40].lower()
    dsn = postgres.create_database(name)
    target = PostgresTarget(
        postgres.host, postgres.port, name, postgres.user, Secret(postgres.password)
    )
    feed = Feed(name, 0, target, "pub", f"slot_{name}")
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(
            "create table k (id int primary key, v text, big text);"
            "alter table k alter big set storage external;"
            "create table f (a int, b text); alter table f replica identity full;"
            "insert into k select i, 'v' || i from generate_series(1, 500) i;"
            "insert into f values (1, 'x'), (1, 'x'), (null, null);"
            "create publication pub for all tables"
        )
        made = Upstream(plane, session, feed, MemoryHost(feed))
        yield made
        made.stop()
        drop_feed(plane, feed)
        assert (
            session.execute(
                "select 1 from pg_replication_slots where slot_name = %s", (feed.slot,)
            ).fetchone()
            is None
        )


def test_every_kind_of_change(upstream: Upstream) -> None:
    tables = upstream.add()
    upstream.start()
    upstream.running(2)
    big = "y" * 5000
    for statement in (
        "insert into k values (1000, 'new', %s)",
        "update k set v = null where id = 1000",
        "update k set id = 2001, big = 'b' where id = 1000",
        "delete from k where id <= 100",
        "update f set b = 'z' where ctid = '(0,1)'",
        "delete from f where b = 'x'",
        "insert into f values (7, 'seven')",
    ):
        upstream.session.execute(statement, (big,) if "%s" in statement else None)
    with upstream.session.transaction():
        upstream.session.execute("insert into k values (3000, 'two tables')")
        upstream.session.execute("insert into f values (3000, 'two tables')")
    with upstream.session.transaction(force_rollback=True):
        upstream.session.execute("insert into f values (4000, 'rolled back')")
    upstream.caught_up()
    for table in tables.values():
        upstream.matches(table)
    upstream.session.execute("truncate f; insert into f values (9, 'after')")
    upstream.caught_up()
    upstream.matches(tables["f"])
    both = [
        {
            row["time"]
            for row in replay.log_rows(upstream.plane, upstream.feed.id, t.reference)
            if row["after"] and "two tables" in row["after"]
        }
        for t in tables.values()
    ]
    assert both[0] == both[1]


def test_values_left_out_follow_a_key_change(upstream: Upstream) -> None:
    """20 kB that upstream does not send again belong to the row, not to its key."""
    large = "0123456789abcdef" * 1250
    upstream.session.execute("insert into k values (901, 'in the base', %s)", (large,))
    export = upstream.add()["k"]
    upstream.start()
    upstream.running(2)
    for statement in (
        "insert into k values (902, 'in the log', %s)",
        "update k set id = 911 where id = 901",
        "update k set id = 912 where id = 902",
        "update k set id = 921, v = 'twice' where id = 911",
        "update k set v = 'and changed' where id = 921",
    ):
        upstream.session.execute(statement, (large[1:],) if "%s" in statement else None)
    upstream.caught_up()
    source = apply.as_input(upstream.feed.id, export)
    time = upstream.host.last.complete_through
    wanted = [(912, "in the log", large[1:]), (921, "and changed", large)]
    assert _above(upstream.plane, source, time) == wanted
    moved = changes.changes(upstream.plane, source, upstream.first(export), time).data
    rows = {tuple(row.values())[:3] for row in moved.to_pylist() if row["mz_diff"] == 1}
    assert set(wanted) <= rows
    apply.apply(upstream.plane, upstream.feed.id, export, time)
    assert _above(upstream.plane, source, time) == wanted


def _above(plane: Plane, source: Input, time: int) -> list[tuple[Any, ...]]:
    query = Query("select * from u1 where id > 900 order by id", {"u1": source}, time)
    return [tuple(row.values()) for row in reading.read(plane, query).data.to_pylist()]


def test_restart_goes_on_where_it_was(upstream: Upstream) -> None:
    tables = upstream.add()
    upstream.start()
    upstream.running(2)
    for turn in range(3):
        upstream.session.execute(
            "insert into k select i, 'again' from generate_series(%s::int, %s::int) i",
            (1000 * (turn + 1), 1000 * (turn + 1) + 300),
        )
        upstream.stop()
        upstream.session.execute("insert into f values (%s, 'down')", (turn,))
        upstream.start()
    upstream.running(2)
    upstream.caught_up()
    for table in tables.values():
        upstream.matches(table)


def test_a_large_transaction_is_one_batch(upstream: Upstream) -> None:
    tables = upstream.add()
    upstream.start()
    upstream.running(2)
    upstream.session.execute(
        "insert into k select i, repeat('x', 20) from generate_series(10000, 129999) i"
    )
    upstream.caught_up()
    rows = replay.log_rows(upstream.plane, upstream.feed.id, tables["k"].reference)
    assert len(rows) == 120_000
    assert len({(row["time"], row["position"]) for row in rows}) == 1
    assert [row["seq"] for row in rows] == list(range(120_000))


def test_a_table_added_later_disturbs_none(upstream: Upstream) -> None:
    upstream.add()
    upstream.start()
    upstream.running(2)
    upstream.session.execute(
        "create table later (id int primary key, v text);"
        "insert into later select i, 'l' from generate_series(1, 1000) i"
    )
    tables = upstream.add("g2")
    for number in range(20):
        upstream.session.execute("insert into later values (%s, 'live')", (2000 + number,))
        upstream.session.execute("insert into k values (%s, 'live')", (2000 + number,))
    upstream.running(3)
    upstream.caught_up()
    for table in tables.values():
        upstream.matches(table)
    slots = upstream.session.execute(
        "select count(*) from pg_replication_slots where database = current_database()"
    ).fetchone()
    assert slots == (1,)


def test_only_the_changed_table_fails(upstream: Upstream) -> None:
    tables = upstream.add()
    upstream.start()
    upstream.running(2)
    upstream.session.execute("alter table k add extra int; insert into k values (5001, 'added')")
    upstream.caught_up()
    assert upstream.statuses() == {"running": 2}
    upstream.session.execute("alter table k drop v; insert into k values (5002)")
    upstream.session.execute("insert into f values (5, 'fine')")
    wait_for(lambda: upstream.statuses().get("failed", 0) == 1)
    report = upstream.host.exports[tables["k"].table]
    assert report.error.startswith("incompatible schema change: column")
    assert report.hint
    upstream.caught_up()
    upstream.matches(tables["f"])
    upstream.session.execute("drop table f")
    wait_for(lambda: upstream.statuses().get("failed", 0) == 2)
    upstream.stop()
    upstream.start()
    wait_for(lambda: upstream.statuses().get("failed", 0) == 2)


def test_a_lost_slot_is_never_a_silent_gap(upstream: Upstream) -> None:
    upstream.add()
    upstream.start()
    upstream.running(2)
    upstream.stop()
    upstream.session.execute("insert into k values (9999, 'lost')")
    drop_feed(upstream.plane, upstream.feed)
    upstream.start()
    assert upstream.thread is not None
    upstream.thread.join(60)
    assert isinstance(upstream.error, Terminal), upstream.host.last
    assert "is gone" in upstream.error.message
    assert upstream.host.last.status == "failed"
    assert upstream.host.last.hint
