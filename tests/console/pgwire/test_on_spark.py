"""Queries that Spark answers: typed parameters, both formats, cancelling, time limits."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.test import override_settings

from ingest.contract.plane import Plane
from tests.console.pgwire.conftest import Listening

pytestmark = pytest.mark.spark

ENDLESS = (
    "SELECT count(*) FROM generate_series(1, 1000000) AS a (x),"
    " generate_series(1, 1000000) AS b (y) WHERE (a.x * b.y) % 7 = 3"
)
WHEN = dt.datetime(2020, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC)


@pytest.fixture
def client(plane: Plane, server: Listening) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose queries go to a real Spark."""
    with override_settings(HEADRACE_PLANE=plane), server.connect() as connection:
        yield connection


@pytest.mark.parametrize("binary", [False, True])
def test_parameters_keep_their_types(client: psycopg.Connection[Any], *, binary: bool) -> None:
    values = (1, 70_000, -(2**40), 1.5, Decimal("12.34"), "it's", WHEN.date(), WHEN, None, True)
    query = "SELECT upper('x') || %s::text, " + ", ".join(["%s"] * len(values))
    found = client.cursor(binary=binary).execute(query, ("y", *values)).fetchone()
    assert found == ("Xy", *values)


def test_cancelling(client: psycopg.Connection[Any]) -> None:
    timer = threading.Timer(2, client.cancel_safe)
    timer.start()
    begun = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled, match="due to user request"):
        client.execute(ENDLESS)
    assert time.monotonic() - begun < 30
    timer.join()
    assert client.execute("SELECT 1").fetchone() == (1,)


def test_statement_timeout(client: psycopg.Connection[Any]) -> None:
    client.execute("SET statement_timeout = '2s'")
    with pytest.raises(psycopg.errors.QueryCanceled, match="due to statement timeout"):
        client.execute(ENDLESS)
    assert client.execute("SELECT 1").fetchone() == (1,)


def test_a_client_that_leaves_has_its_query_cancelled(
    client: psycopg.Connection[Any], server: Listening
) -> None:
    before = _session_threads()
    other = server.connect()
    other.pgconn.send_query(ENDLESS.encode())
    time.sleep(1)  # the query must be under way: one that was not begun is not cancelled
    assert _session_threads() == before + 1
    other.close()
    deadline = time.monotonic() + 20
    while _session_threads() > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _session_threads() == before


def _session_threads() -> int:
    return sum(thread.name == "pgwire" for thread in threading.enumerate())
