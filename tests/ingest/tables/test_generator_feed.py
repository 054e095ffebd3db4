"""A generator's feed on a real Spark: hydrated, followed, stopped and started again."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from ingest import engine
from ingest.contract.commands import Export, ExportColumn, Feed, Generator, Query
from ingest.contract.plane import Plane
from ingest.contract.reports import ExportReport, FeedReport
from ingest.contract.types import TEXT
from ingest.contract.upstream import Reference
from ingest.tables import apply

pytestmark = pytest.mark.spark


class Host:
    """What the catalog does for a feed."""

    def __init__(self, feed: Feed) -> None:
        self.feed: Feed | None = feed
        self.time = 0
        self.complete = 0
        self.tables: dict[str, ExportReport] = {}

    def desired(self) -> Feed | None:
        return self.feed

    def next_time(self, after: int) -> int:
        self.time = max(int(time.time() * 1000), after + 1, self.time + 1)
        return self.time

    def report(self, reports: tuple[FeedReport | ExportReport, ...]) -> None:
        for report in reports:
            if isinstance(report, FeedReport):
                self.complete = report.complete_through
            else:
                self.tables[report.table] = report


@contextmanager
def running(plane: Plane, host: Host) -> Iterator[None]:
    feed = host.feed
    thread = threading.Thread(target=engine.run_feed, args=(plane, host))
    thread.start()
    try:
        yield
    finally:
        host.feed = None
        thread.join(60)
        host.feed = feed


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def exports(target: Generator, *names: str) -> tuple[Export, ...]:
    references = {reference.name: reference for reference in engine.list_references(target)}
    return tuple(_export(references[name]) for name in names)


def _export(found: Reference) -> Export:
    columns = tuple(
        ExportColumn(c.name, c.native or TEXT, c.nullable, c.name, c.position, c.type_oid, -1)
        for c in found.columns
    )
    shard = f"g{uuid.uuid4().hex[:8]}"
    return Export(shard, shard, "", found.name, found.identity, columns, found.key, "g")


def ask(plane: Plane, host: Host, sql: str, *tables: Export) -> list[tuple[Any, ...]]:
    assert host.feed is not None
    inputs = {f"t{i}": apply.as_input(host.feed.id, e) for i, e in enumerate(tables)}
    found = engine.read(plane, Query(sql, inputs, host.complete))
    return [tuple(row.values()) for row in found.data.to_pylist()]


def test_a_feed_goes_on_where_it_was(plane: Plane) -> None:
    start = int(time.time() * 1000)
    target = Generator("auction", start, {"TICK INTERVAL": "50ms"})
    auctions, bids, users = exports(target, "auctions", "bids", "users")
    feed = Feed(f"f{uuid.uuid4().hex[:8]}", 1, target, exports=(auctions, users))
    host = Host(feed)
    with running(plane, host):
        until(lambda: all(host.tables.get(t.table) is not None for t in (auctions, users)))
        until(lambda: all(t.status == "running" for t in host.tables.values()))
        host.feed = replace(feed, exports=(auctions, users, bids))
        until(lambda: bids.table in host.tables and host.tables[bids.table].status == "running")
        time.sleep(1)
        _check(plane, host, auctions, bids)
    host.feed = replace(feed, epoch=2, exports=(auctions, users, bids))
    with running(plane, host):
        known = host.complete
        until(lambda: host.complete > known + 1000)
        _check(plane, host, auctions, bids)
        apply.apply(plane, feed.id, bids, host.complete)
        _check(plane, host, auctions, bids)
    assert ask(plane, host, "select count(*), count(distinct id) from t0", users) == [(120, 120)]
    assert host.tables[bids.table].readable_from > 0
    engine.drop_feed(plane, feed)


def _check(plane: Plane, host: Host, auctions: Export, bids: Export) -> None:
    """At one time: no gap, nothing twice, every bid's auction is there."""
    sql = "select count(*), count(distinct id), max(id), max(auction_id) from t0"
    [(count, distinct, last, auction)] = ask(plane, host, sql, bids)
    assert count == distinct == last > 0
    both = (
        "select (select max(id) from t0) a, (select count(*) from t0) n, max(auction_id) b from t1"
    )
    [(newest, number, with_bids)] = ask(plane, host, both, auctions, bids)
    assert newest == number
    assert with_bids in (newest, newest - 1)
    assert auction <= newest


def test_rewritten_orders_stay_whole(plane: Plane) -> None:
    options = {"TICK INTERVAL": "20ms", "SCALE FACTOR": "0.0002"}
    target = Generator("tpch", int(time.time() * 1000), options)
    orders, lines = exports(target, "orders", "lineitem")
    feed = Feed(f"f{uuid.uuid4().hex[:8]}", 1, target, exports=(orders, lines))
    host = Host(feed)
    with running(plane, host):
        until(lambda: len(host.tables) == 2)
        until(lambda: all(t.status == "running" for t in host.tables.values()))
        for _ in range(3):
            time.sleep(0.5)
            sums = "select l_orderkey, sum(l_extendedprice) s from t1 group by 1"
            match = "o_orderkey = l_orderkey where s is distinct from o_totalprice"
            sql = f"select count(*) from ({sums}) full join t0 on {match}"
            assert ask(plane, host, sql, orders, lines) == [(0,)]
        assert ask(plane, host, "select count(*) from t0", orders) == [(300,)]
