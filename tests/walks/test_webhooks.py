"""The whole product under webhooks' requests: what got a 200 is there, once, whatever dies."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException

import pytest

from tests.faults.processes import find, kill
from tests.services import product
from tests.services.product import Product

pytestmark = pytest.mark.spark
KEY = b"shh"
PATH = "/api/webhook/headrace/public/orders"
STATEMENTS = """
    CREATE SECRET key AS 'shh';
    CREATE TABLE orders FROM WEBHOOK BODY FORMAT JSON INCLUDE HEADER 'x-event' AS event
        CHECK (WITH (HEADERS, BODY, SECRET key)
               constant_time_eq(headers->'x-sig', encode(hmac(body, key, 'sha256'), 'hex')))
"""


PATIENCE = 240.0
"""Seconds in which the product is itself again, whatever was killed; see tests/faults."""


@pytest.fixture(scope="module")
def running() -> Iterator[Product]:
    with product.running() as made:
        made.sql(STATEMENTS)
        yield made


class Sender(threading.Thread):
    """Sends requests one after the other; notes which of them were answered with 200."""

    def __init__(self, port: int, name: str) -> None:
        super().__init__()
        self.port, self.sender = port, name
        self.kept: list[str] = []
        self.other: list[int] = []
        self.seconds: list[float] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        number = 0
        while not self.stopped.is_set():
            number += 1
            name = f"{self.sender}-{number}"
            body = json.dumps({"id": name}).encode()
            signature = hmac.new(KEY, body, hashlib.sha256).hexdigest()
            begun = time.monotonic()
            try:
                connection.request("POST", PATH, body, {"x-sig": signature, "x-event": "made"})
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException):
                connection.close()
                time.sleep(0.2)
                continue
            self.seconds.append(time.monotonic() - begun)
            if answer.status == 200:
                self.kept.append(name)
            else:
                self.other.append(answer.status)


def names(running: Product) -> list[str]:
    return [str(row[0]) for row in running.sql("SELECT body->>'id' FROM orders")]


def sending(running: Product, count: int) -> list[Sender]:
    prefix = f"{time.time():.0f}"
    senders = [Sender(running.port, f"{prefix}-{n}") for n in range(count)]
    for sender in senders:
        sender.start()
    return senders


def stopped(senders: list[Sender]) -> set[str]:
    for sender in senders:
        sender.stopped.set()
    for sender in senders:
        sender.join()
    return {name for sender in senders for name in sender.kept}


def settled(running: Product, kept: set[str]) -> list[str]:
    """The table once it has everything that was answered with 200."""
    found: list[str] = []

    def complete() -> bool:
        nonlocal found
        try:
            found = names(running)
        except AssertionError:
            return False
        return kept <= set(found)

    until = time.monotonic() + PATIENCE
    while not complete() and time.monotonic() < until:
        time.sleep(0.5)
    assert kept - set(found) == set()
    return found


def test_many_at_once(running: Product) -> None:
    senders = sending(running, 24)
    time.sleep(6)
    kept = stopped(senders)
    found = settled(running, kept)
    assert sorted(found) == sorted(set(found)) == sorted(kept)
    assert not any(sender.other for sender in senders)
    seconds = sorted(second for sender in senders for second in sender.seconds)
    print(
        f"\n{len(kept) / 6:.0f} requests/s, p50 {seconds[len(seconds) // 2] * 1000:.0f} ms, "
        f"p99 {seconds[len(seconds) * 99 // 100] * 1000:.0f} ms"
    )
    begun = time.monotonic()
    (one,) = sending(running, 1)
    while not one.kept:
        time.sleep(0.01)
    first = one.kept[0]
    while first not in names(running):
        time.sleep(0.05)
    print(f"first row readable {time.monotonic() - begun:.2f} s after it was sent")
    stopped([one])


@pytest.mark.parametrize("victim", ["web", "feed", "spark"])
def test_something_dies(running: Product, victim: str) -> None:
    before = set(names(running))
    senders = sending(running, 6)
    time.sleep(2)
    kill(find(running, victim))
    time.sleep(8)
    kept = stopped(senders)
    found = settled(running, kept)
    assert len(found) == len(set(found))
    assert before <= set(found)
    assert kept
    if victim != "web":
        assert not any(status != 200 for sender in senders for status in sender.other)


def test_it_is_seen(running: Product) -> None:
    shown = running.sql("SELECT name, url FROM mz_internal.mz_webhook_sources")
    assert shown == [["orders", f"{running.url}{PATH}"]]
    status = "SELECT type, status FROM mz_internal.mz_source_statuses WHERE name = 'orders'"
    assert running.sql(status) == [["table", "running"]]
    assert running.value("SELECT count(*) FROM orders WHERE event = 'made'") != "0"
