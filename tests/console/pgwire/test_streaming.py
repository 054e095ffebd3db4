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


def test_cursors(server: Listening) -> None:
    with server.connect() as client, server.connect() as writer:
        with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
            client.execute("DECLARE c CURSOR FOR SELECT 1")
        with client.transaction():
            client.execute(f"DECLARE c CURSOR FOR {SECRETS}")
            assert client.execute("FETCH ALL c").fetchall() == []
            writer.execute("CREATE SECRET one AS 'x'")
            writer.execute("CREATE SECRET two AS 'x'")
            found = client.execute("FETCH 1 c WITH (TIMEOUT = '20s')").fetchall()
            found += client.execute("FETCH ALL c WITH (TIMEOUT = '3s')").fetchall()
            assert sorted(row[1:] for row in found) == [(1, "one"), (1, "two")]
            client.execute("CLOSE c")
            with (
                pytest.raises(psycopg.errors.InvalidCursorName),
                client.transaction(),
            ):
                client.execute("FETCH c")
            with client.cursor(name="named") as named:
                named.execute("SELECT name FROM mz_secrets ORDER BY name")
                assert named.description is not None
                assert named.fetchone() == ("one",)
                assert named.fetchall() == [("two",)]
        assert not [found for found in follower.followers() if found.readers]


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
