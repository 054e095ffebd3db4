"""A listening server in this process, on the test's catalog, and somebody who may sign in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from django.core.cache import cache
from psycopg.conninfo import make_conninfo

from catalog import accounts
from console.pgwire.server import Place, Server

EMAIL = "ada@example.com"


@dataclass(frozen=True)
class Listening:
    """A running server and the owner's app-specific password."""

    port: int
    password: str

    def dsn(self, **changes: Any) -> str:
        """Where and who, for libpq."""
        own: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": EMAIL,
            "dbname": "headrace",
            "password": self.password,
            "connect_timeout": 10,
            "sslmode": "prefer",
        }
        return make_conninfo(**(own | changes))

    def connect(self, **changes: Any) -> psycopg.Connection[Any]:
        """A connection in autocommit mode."""
        return psycopg.connect(self.dsn(**changes), autocommit=True)


@contextmanager
def listening(place: Place) -> Iterator[int]:
    """The port of a server that runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = Server(place)
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture
def password(transactional_db: None) -> str:
    """The owner's app-specific password."""
    cache.clear()
    user = accounts.create_user(EMAIL, owner=True)
    return accounts.create_token(user, "tests").app_password


@pytest.fixture
def server(password: str) -> Iterator[Listening]:
    """A server without a certificate."""
    with listening(Place("127.0.0.1", 0, most=5)) as port:
        yield Listening(port, password)
