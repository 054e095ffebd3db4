"""A product's SQL websockets as a client sees them, over a real socket."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from websockets.sync.client import ClientConnection, connect

from tests.services.product import Product

Row = list[Any]
PATIENCE = 120.0


class SqlSocket:
    """`/api/experimental/sql`, let in and ready."""

    def __init__(self, line: ClientConnection, product: Product) -> None:
        self.line = line
        self.columns: list[str] = []
        self.rows: list[Row] = []
        self.line.send(json.dumps({"user": product.email, "password": product.password}))
        self.answer()

    def hear(self) -> tuple[str, Any]:
        """The next frame; rows and columns are kept."""
        frame = json.loads(self.line.recv(timeout=PATIENCE))
        kind, payload = frame["type"], frame["payload"]
        if kind == "Rows":
            self.columns = [column["name"] for column in payload["columns"]]
        elif kind == "Row":
            self.rows.append(payload)
        return kind, payload

    def answer(self) -> list[tuple[str, Any]]:
        """Frames up to the next ReadyForQuery."""
        found = [self.hear()]
        while found[-1][0] != "ReadyForQuery":
            found.append(self.hear())
        return found

    def ask(self, sql: str) -> None:
        """Begin a statement."""
        self.rows = []
        self.line.send(json.dumps({"query": sql}))

    def until(self, enough: Callable[[], bool]) -> None:
        """Hear until it is enough; raises AssertionError for an error or after too long."""
        deadline = time.monotonic() + PATIENCE
        while not enough():
            kind, payload = self.hear()
            assert kind != "Error", payload
            assert time.monotonic() < deadline

    @property
    def progress(self) -> int:
        """The newest progress but the beginning's; it was asked for."""
        return max((int(row[0]) for row in self.rows[1:] if row[1] is True), default=0)

    def state(self, before: int) -> Counter[tuple[Any, ...]]:
        """What there is according to the changes before a time; progress was asked for."""
        return +folded([row for row in self.rows if row[1] is False and int(row[0]) < before])


def folded(rows: list[Row]) -> Counter[tuple[Any, ...]]:
    """Rows with progress, added up."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        found[tuple(row[3:])] += int(row[2])
    return found


@contextmanager
def sql_socket(product: Product) -> Iterator[SqlSocket]:
    """A signed-in connection."""
    address = f"ws://127.0.0.1:{product.port}/api/experimental/sql"
    with connect(address, max_size=None, open_timeout=60) as line:
        yield SqlSocket(line, product)


def basic(product: Product) -> dict[str, str]:
    """The header that says who is there."""
    credentials = b64encode(f"{product.email}:{product.password}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}


def query_socket(product: Product, sql: str, **options: Any) -> ClientConnection:
    """`/query?query=`, signed in by header."""
    line: ClientConnection = connect(
        f"ws://127.0.0.1:{product.port}/query?query={quote(sql)}",
        additional_headers=basic(product),
        max_size=None,
        open_timeout=60,
        **options,
    )
    return line
