"""SUBSCRIBE through psql's protocol: rows that go on coming, a limit, a cancel, an end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from catalog.subscribing import follower
from tests.console.pgwire.conftest import Listening

SECRETS = "SUBSCRIBE (SELECT name FROM mz_secrets)"


@pytest.fixture(autouse=True)
def _nobody_follows_afterwards() -> Iterator[None]:
    yield
    for found in follower.followers():
        found.stop()


def test_rows_come_one_by_one(server: Listening) -> None:
    with server.connect() as reader, server.connect() as writer:
        writer.execute("CREATE SECRET one AS 'x'")
        rows = reader.cursor().stream(SECRETS)
        time_, diff, name = next(rows)
        assert (diff, name) == (1, "one")
        writer.execute("CREATE SECRET two AS 'x'")
        later, diff, name = next(rows)
        assert (diff, name) == (1, "two")
        assert later > time_
        reader.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            list(rows)
        assert reader.execute("SELECT 1").fetchone() == (1,)


def test_a_stream_that_ends(server: Listening) -> None:
    with server.connect() as client:
        cursor = client.execute("SUBSCRIBE (SELECT 1 AS a) WITH (PROGRESS)")
        assert [column.name for column in cursor.description or ()] == [
            *("mz_timestamp", "mz_progressed", "mz_diff", "a")
        ]
        rows = cursor.fetchall()
        assert [row[1:] for row in rows] == [(True, None, None), (False, 1, 1), (True, None, None)]
        assert cursor.statusmessage == "SUBSCRIBE 3"
        binary = client.cursor(binary=True).execute("SUBSCRIBE (SELECT 1 AS a)").fetchall()
        assert [row[1:] for row in binary] == [(1, 1)]


def test_cancelling(server: Listening) -> None:
    with server.connect() as client:
        cancel = threading.Timer(1.0, client.cancel_safe)
        cancel.start()
        began = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled):
            client.execute(SECRETS)
        assert time.monotonic() - began < 10
        assert client.execute("SELECT 1").fetchone() == (1,)


def test_a_client_that_leaves(server: Listening) -> None:
    client = server.connect()
    client.pgconn.send_query(SECRETS.encode())
    _until(lambda: len(follower.followers()) == 1)
    (following,) = follower.followers()
    _until(lambda: following.readers == 1)
    client.pgconn.finish()
    _until(lambda: following.readers == 0)


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
