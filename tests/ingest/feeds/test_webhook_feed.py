"""The webhooks' feed on a real Spark: nothing kept is lost or doubled, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from ingest import engine
from ingest.contract.commands import Feed, Query, Webhooks
from ingest.contract.plane import Plane
from ingest.feeds.webhooks.files import Files
from ingest.feeds.webhooks.inbox import Drain, inbox_path
from ingest.tables import apply
from tests.ingest.feeds.host import MemoryHost, wait_for
from tests.ingest.feeds.webhook_life import drain, export_of, request

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]


def contents(plane: Plane, feed: str, shard: str, time_: int) -> list[str]:
    source = apply.as_input(feed, export_of(shard))
    found = engine.read(plane, Query("select body from t order by body", {"t": source}, time_))
    return [str(row["body"]) for row in found.data.to_pylist()]


def names() -> tuple[str, str]:
    tag = uuid.uuid4().hex[:8]
    return f"w{tag}", f"s{tag}"


def life(arguments: dict[str, object]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.ingest.feeds.webhook_life", json.dumps(arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_requests_are_read(plane: Plane) -> None:
    feed, shard = names()
    host = MemoryHost(Feed(feed, 1, Webhooks(), exports=(export_of(shard),)))
    inbox = engine.open_inbox(plane, feed, "a")
    inbox.write([request("before the table was made here")])
    thread = threading.Thread(target=engine.run_feed, args=(plane, host), daemon=True)
    thread.start()
    try:
        wait_for(lambda: shard in host.exports and host.exports[shard].status == "running", 60)
        waited = []
        for number in range(5):
            inbox.write([request(f"r{number}")])
            begun = time.monotonic()
            wait_for(lambda: host.exports[shard].updates_committed >= 2 + number, 30)  # noqa: B023
            waited.append(round(time.monotonic() - begun, 2))
        print("seconds from kept to readable:", waited)
        found = contents(plane, feed, shard, host.last.complete_through)
        assert found == ["before the table was made here", *(f"r{n}" for n in range(5))]
        apply.apply(plane, feed, export_of(shard), host.last.complete_through)
        assert contents(plane, feed, shard, host.last.complete_through) == found
        assert host.last.upto == 6
        assert Drain(plane, feed).waiting({}, 1) == []
    finally:
        host.feed = None
        thread.join()
    engine.drop_feed(plane, Feed(feed, 1, Webhooks()))


@pytest.mark.parametrize(
    ("point", "life_"),
    [("log written", 1), ("log written", 2), ("log committed", 1), ("log committed", 2)],
)
def test_the_feed_dies(plane: Plane, point: str, life_: int) -> None:
    """In its first life, or in one that has a log already; three more requests before each."""
    feed, shard = names()
    inbox = engine.open_inbox(plane, feed, "a")
    sent: list[str] = []
    deaths = 0
    for epoch in range(1, 5):
        fresh = [f"{epoch}-{n}" for n in range(3)]
        for name in fresh:
            inbox.write([request(name)])
        sent += fresh
        armed = [point] if epoch == life_ else [""]
        arguments = {"plane": [plane.remote, plane.warehouse], "feed": feed, "shard": shard}
        process = life({**arguments, "epoch": epoch, "point": armed})
        _, errors = process.communicate(timeout=120)
        assert process.returncode in {0, -signal.SIGKILL}, errors[-2000:]
        deaths += process.returncode != 0
    assert deaths == 1
    drain(plane, Feed(feed, 9, Webhooks(), exports=(export_of(shard),)))
    assert contents(plane, feed, shard, 2**62) == sorted(sent)


def test_the_writers_die(plane: Plane) -> None:
    """Three processes write and are killed; what they were told of is there, once."""
    feed, shard = names()
    told: list[str] = []
    where = {"plane": [plane.remote, plane.warehouse], "feed": feed}
    lives = [life({**where, "writer": f"w{n}", "point": ["request kept", 25]}) for n in range(2)]
    third = life({**where, "writer": "w2", "point": [""]})
    for process in lives:
        told += process.communicate(timeout=60)[0].split()
    third.kill()
    told += third.communicate(timeout=60)[0].split()
    drain(plane, Feed(feed, 1, Webhooks(), exports=(export_of(shard),)))
    found = contents(plane, feed, shard, 2**62)
    assert len(found) == len(set(found))
    assert set(told) <= set(found)
    assert set(found) - set(told) <= {"w0-24", "w1-24", *(n for n in found if n[:2] == "w2")}


class Feeds:
    """Feeds of one inbox, each in a thread of its own."""

    def __init__(self, plane: Plane, feed: str, shard: str) -> None:
        self.plane, self.feed, self.shard = plane, feed, shard
        self.errors: list[BaseException] = []

    def start(self, epoch: int) -> tuple[MemoryHost, threading.Thread]:
        export = export_of(self.shard)
        host = MemoryHost(Feed(self.feed, epoch, Webhooks(), exports=(export,)))
        thread = threading.Thread(target=self._run, args=(host,), daemon=True)
        thread.start()
        return host, thread

    def _run(self, host: MemoryHost) -> None:
        try:
            engine.run_feed(self.plane, host)
        except BaseException as error:
            self.errors.append(error)


def test_two_feeds_at_once(plane: Plane) -> None:
    """An older one that still runs is fenced; nothing is there twice."""
    feeds = Feeds(plane, *names())
    old, first = feeds.start(1)
    wait_for(lambda: "running" in {one.status for one in old.exports.values()}, 60)
    inbox = engine.open_inbox(plane, feeds.feed, "a")
    sent = [f"r{number:05d}" for number in range(200)]
    second = None
    for number, name in enumerate(sent):
        inbox.write([request(name)])
        time.sleep(0.02)
        if number == 80:
            new, second = feeds.start(2)
    first.join(30)
    assert feeds.errors
    inbox_files = Files(inbox_path(plane, feeds.feed))
    wait_for(lambda: not inbox_files.names("a"), 60)
    new.feed = None
    assert second is not None
    second.join()
    assert contents(plane, feeds.feed, feeds.shard, 2**62) == sent
