"""A maintained view and one over it, read all the time, while what keeps them is killed."""

from __future__ import annotations

import json
import random
import threading
import time
from base64 import b64encode
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

from tests.faults import processes
from tests.faults.field import BOUND, FRESH, Field, fresh, until
from tests.services.product import Product, SqlFailure

RETRIABLE = {"08", "40", "53", "55", "57"}
"""Classes of SQLSTATE that say: not now, ask again."""
HELD = "SELECT id, balance, moves, {version} AS version FROM accounts"
OVER = "SELECT version, count(*) AS n, sum(moves) AS moves FROM held GROUP BY version"
MADE = "SELECT debit, count(*) AS n, sum(amount) AS total FROM ledger GROUP BY debit"
ACCOUNTS = 40
_WATCH = (
    "SELECT h.n, h.low, h.high, h.total, h.moves, o.n, o.low, o.high, o.moves, l.n FROM"
    " (SELECT count(*) AS n, min(version) AS low, max(version) AS high, sum(balance) AS total,"
    " sum(moves) AS moves FROM held) AS h, (SELECT sum(n) AS n, min(version) AS low,"
    " max(version) AS high, sum(moves) AS moves FROM over) AS o,"
    " (SELECT count(*) AS n FROM ledger) AS l"
)
_EVENTS = "SELECT event_type, details FROM mz_audit_events WHERE object_type ="
_HYDRATED = (
    "SELECT h.hydrated FROM mz_internal.mz_hydration_statuses AS h"
    " JOIN mz_objects AS o ON o.id = h.object_id WHERE o.name ="
)
_STATES = (
    "SELECT name, status, percent, error, details, reason"
    " FROM mz_internal.mz_materialized_view_statuses"
)
_FRONTIER = (
    "SELECT f.write_frontier FROM mz_internal.mz_frontiers AS f"
    " JOIN mz_objects AS o ON o.id = f.object_id WHERE o.name ="
)


@dataclass
class Watcher:
    """Reads both views, and what they are made from, in one SELECT at random moments: whoever
    gets an answer gets one definition's rows of one moment, or is told to ask again."""

    product: Product
    versions: list[int] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Read until stopped."""
        pick = random.Random(6)
        while not self.stopped.wait(pick.uniform(0.3, 2)):
            try:
                self._take([int(float(cell or 0)) for cell in self.product.sql(_WATCH)[0]])
            except SqlFailure as failure:
                self._told(failure)
            except (OSError, HTTPException):
                self.refused["no connection"] += 1

    def _take(self, row: list[int]) -> None:
        n, low, high, total, moves, rows, least, most, above, lines = row
        whole = n == rows == ACCOUNTS and low == high == least == most
        if not whole or total != 0 or not moves == above == 2 * lines:
            self.wrong.append(str(row))
        self.versions.append(low)

    def _told(self, failure: SqlFailure) -> None:
        code = str(failure.error.get("code", ""))
        self.refused[code] += 1
        if code[:2] not in RETRIABLE or not failure.error.get("message"):
            self.wrong += [json.dumps(failure.error), *getattr(failure, "__notes__", ())]

    def found(self) -> list[str]:
        """What was wrong since this was asked last."""
        found, self.wrong = self.wrong, []
        return found


class Views:
    """The views `held` and `over`, and replacements for `held` that differ by a number."""

    def __init__(self, product: Field) -> None:
        self.field = product
        self.version = 1
        self._made = self._numbers = 1
        self.watcher = Watcher(_anew(product.product))
        self._watching = threading.Thread(target=self.watcher.run, daemon=True)

    def open(self) -> None:
        """Make the views, wait until they have rows, and begin to read."""
        self.field.patiently(f"CREATE MATERIALIZED VIEW held AS {HELD.format(version=1)}")
        self.field.patiently(f"CREATE MATERIALIZED VIEW over AS {OVER}")
        for name in ("held", "over"):
            self.await_rows(name)
        self._watching.start()

    def close(self) -> None:
        """Stop reading and drop them."""
        self.watcher.stopped.set()
        if self._watching.is_alive():
            self._watching.join(60)
        self.field.patiently("DROP MATERIALIZED VIEW IF EXISTS held CASCADE")

    def next_view(self) -> str:
        """The name of a view that is not there yet."""
        self._made += 1
        return f"made_{self._made}"

    def replacement(self) -> str:
        """Make the next replacement for `held`, and wait until it has rows; its name."""
        self._numbers += 1
        self.version, name = self._numbers, f"next_{self._numbers}"
        self.field.patiently(
            f"CREATE REPLACEMENT {name} FOR MATERIALIZED VIEW held AS"
            f" {HELD.format(version=self.version)}"
        )
        self.await_rows(name)
        return name

    def arm(self, process: str, point: str, victim: str) -> set[int]:
        """Let the running process of a kind be followed by one that kills the victim (itself, if
        it is of that kind) at a fail point; the ids of those that will die."""
        armed = point
        if victim != process:
            (found,) = self.pids(victim)
            armed = f"{point}:1:{found}"
        self.field.arm(process, armed)
        until(lambda: bool(self.pids(process)), f"no {process}")
        until(lambda: self.field.patiently("SELECT 1") == [["1"]], "no answer")
        self.watcher.refused.clear()
        self.watcher.versions.clear()
        return self.pids(victim)

    def pids(self, kind: str) -> set[int]:
        """The ids of the running processes of a kind."""
        return {one.pid for one in processes.find(self.field.product, kind)}

    def await_death(self, victim: str, pids: set[int]) -> None:
        """Wait until none of them lives."""
        until(
            lambda: not pids & self.pids(victim),
            f"{victim} lives: nobody passed the point",
            patience(),
        )

    def await_rows(self, name: str) -> None:
        """Wait until a view has its rows."""

        deadline = time.monotonic() + patience()
        while self.field.patiently(f"{_HYDRATED} '{name}'") != [[True]]:
            assert time.monotonic() < deadline, self.field.patiently(_STATES)
            time.sleep(0.3)

    def compare(self, name: str, query: str) -> None:
        """Wait until the view is kept up to now; then it is its query, row by row."""
        now = int(self.field.patiently("SELECT mz_now()")[0][0])

        def there() -> int:
            rows = self.field.patiently(f"{_FRONTIER} '{name}'")
            return int(rows[0][0] or 0) if rows else 0

        until(lambda: there() > now, f"{name} stands still", patience(), every=0.3)
        moment = there() - 1
        kept = self.field.patiently(f"SELECT * FROM {name} AS OF {moment}")
        whole = self.field.patiently(f"SELECT q.* FROM ({query}) AS q AS OF {moment}")
        assert _counted(kept) == _counted(whole), f"{name} at {moment}"

    def events(self, event: str, name: str, key: str = "") -> int:
        """How many audit rows there are of an event of a view, with a key in their details."""
        rows = self.field.patiently(f"{_EVENTS} 'materialized-view'")
        details = [row[1] for row in rows if row[0] == event]
        return sum(1 for one in details if one.get("item") == name and (not key or key in one))

    def once(self, sql: str) -> dict[str, Any] | None:
        """The last result of a statement that is sent once, whatever becomes of it; None when
        the connection was cut."""
        with suppress(OSError, HTTPException):
            return _sent(self.field.product, sql)
        return None


def patience() -> float:
    """Seconds to wait, scaled with what else this machine has to do."""
    return BOUND * fresh() / FRESH


def _sent(product: Product, sql: str) -> dict[str, Any]:
    credentials = b64encode(f"{product.email}:{product.password}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    line = HTTPConnection("127.0.0.1", product.port, timeout=300)
    try:
        line.request("POST", "/api/sql", json.dumps({"query": sql}), headers)
        found: dict[str, Any] = json.loads(line.getresponse().read())["results"][-1]
        return found
    finally:
        line.close()


def _anew(product: Product) -> Product:
    return Product(product.home, product.port, product.environment, product.password)


def _counted(rows: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


def in_turn(versions: list[int], old: int, new: int) -> bool:
    """Whether readers saw the old, then the new, and nothing else."""
    return set(versions) <= {old, new} and versions == sorted(versions, key=[old, new].index)
