"""What adding a large table costs the tables that are there: freshness while it is filled.

pgbench runs upstream all the while. Now and then the newest WAL position is taken: everything
committed before is visible once the source's progress has passed it. So the lag from taking to
passing is what a reader of the four bank tables sees, at worst.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
from sqlglot import exp

from bench import product, upstream
from bench.freshness import match, percentile
from bench.metric import Metric
from catalog.sql import render
from catalog.sql.nodes.query import Select
from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.walks.bank import Bank

_RATE = 50
_MARK_SECONDS = 0.05
_WARM = 5.0
_LONGEST = 900.0


@dataclass
class Marks:
    """WAL positions upstream, each with the moment it was taken."""

    dsn: str
    taken: list[tuple[int, float]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Take one several times a second until stopped."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            while not self.stopped.wait(_MARK_SECONDS):
                moment = time.monotonic()
                row = connection.execute(
                    "select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint"
                ).fetchone()
                if row is not None:
                    self.taken.append((row[0], moment))


def measure(server: Postgres, running: Product, rows: int, seconds: float) -> list[Metric]:
    """Freshness before, and while a table of `rows` rows is added; `seconds` long before."""
    bank = Bank(server, running, "adding")
    bank.make()
    upstream.make_wide(bank.dsn, "wide", rows)
    bank.follow()
    with bank.busy(_LONGEST, _RATE, whole=False):
        before = _lags(bank, lambda began: time.monotonic() - began > seconds, _WARM)
        product.tables(running, bank.source, {"adding_wide": "wide"})
        began = time.monotonic()
        during = _lags(bank, lambda _: _running(running, "adding_wide"), 0.0)
        took = time.monotonic() - began
    print(f"  adding: {rows} rows in {took:.1f} s", file=sys.stderr)
    millions = f"{rows / 1e6:g} M"
    found = []
    for share in (50, 95):
        name = f"freshness p{share} while adding {millions} rows / before"
        values = percentile(during, share), percentile(before, share)
        found.append(Metric(name, values[0], "s", "before", values[1], 1.5))
    return found


def _lags(bank: Bank, done: Callable[[float], bool], warm: float) -> list[float]:
    marks = Marks(bank.dsn)
    thread = threading.Thread(target=marks.run)
    thread.start()
    progress = render(Select(exp.select("lsn").from_(bank.source)))
    began = looked = time.monotonic()
    seen: list[tuple[int, float]] = []
    try:
        while True:
            asked = time.monotonic()
            seen.append((int(bank.product.value(progress) or 0), asked))
            if asked - looked > 0.5:
                looked = asked
                if done(began):
                    break
            time.sleep(0.01)
    finally:
        marks.stopped.set()
        thread.join()
    return match(marks.taken, seen, warm)


def _running(running: Product, table: str) -> bool:
    return product.states(running).get(table) == "running"
