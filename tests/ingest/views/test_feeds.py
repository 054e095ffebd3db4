"""Views over tables that a feed fills, stepped while it runs."""

from __future__ import annotations

import time
import uuid

import pytest

from ingest import engine
from ingest.contract.commands import Feed, Generator, Input
from ingest.contract.plane import Plane
from ingest.contract.views import View
from ingest.tables import apply
from tests.ingest.tables.test_generator_feed import Host, exports, running, until
from tests.ingest.views import worlds

pytestmark = pytest.mark.spark

JOINED = "select a.id, a.item, b.amount from auctions a join bids b on a.id = b.auction_id"
GROUPED = "select auction_id, count(*) n, max(amount) most from bids group by auction_id"


def test_views_follow_a_feed(plane: Plane) -> None:
    target = Generator("auction", int(time.time() * 1000), {"TICK INTERVAL": "40ms"})
    host, inputs = _host(target, "auctions", "bids")
    _, bids = host.feed.exports if host.feed else ()
    with running(plane, host):
        _ready(host)
        views = [worlds.over(sql, inputs) for sql in (JOINED, GROUPED)]
        times = [host.complete]
        for view in views:
            worlds.hydrate(plane, view, times[0])
        for _ in range(3):
            times.append(_later(host, times[-1]))
            for view in views:
                step = engine.step_view(plane, view, times[-1])
                assert (step.how, step.reason) == ("incremental", "")
                assert step.added > 0
            apply.apply(plane, inputs["bids"].feed, bids, times[-1])
    for view in views:
        _check(plane, view, times)


def test_views_follow_rows_that_are_rewritten(plane: Plane) -> None:
    options = {"TICK INTERVAL": "50ms", "KEYS": "12", "PARTITIONS": "3", "BATCH SIZE": "2"}
    host, inputs = _host(Generator("key value", int(time.time() * 1000), options), "key_value")
    sql = 'select partition, max("offset") o, count(*) n from key_value group by partition'
    with running(plane, host):
        _ready(host)
        views = [worlds.over(each, inputs) for each in (sql, "select key, value from key_value")]
        times = [host.complete]
        for view in views:
            worlds.hydrate(plane, view, times[0])
        for _ in range(2):
            times.append(_later(host, times[-1]))
            for view in views:
                assert engine.step_view(plane, view, times[-1]).reason == ""
    for view in views:
        _check(plane, view, times)


def _host(target: Generator, *names: str) -> tuple[Host, dict[str, Input]]:
    made = exports(target, *names)
    feed = Feed(f"f{uuid.uuid4().hex[:8]}", 1, target, exports=made)
    return Host(feed), {n: apply.as_input(feed.id, e) for n, e in zip(names, made, strict=True)}


def _ready(host: Host) -> None:
    count = len(host.feed.exports) if host.feed else 0
    until(lambda: len(host.tables) == count)
    until(lambda: all(t.status == "running" for t in host.tables.values()))


def _later(host: Host, last: int) -> int:
    until(lambda: host.complete > last + 500)
    return host.complete


def _check(plane: Plane, view: View, times: list[int]) -> None:
    source = worlds.as_input((view, 0))
    for at in times:
        assert worlds.rows(plane, source, at) == worlds.truth(plane, view, at)
    first, last = worlds.rows(plane, source, times[0]), worlds.rows(plane, source, times[-1])
    assert worlds.added(first, worlds.changes(plane, source, times[0], times[-1])) == last
