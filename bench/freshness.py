"""How long after a commit upstream a SELECT here can see it, with one table and with fifty.

Visible means: the source's progress, which every SELECT takes its timestamp from, has reached the
commit's LSN.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from sqlglot import exp

from bench import product, upstream
from bench.metric import Metric
from catalog.sql import render
from catalog.sql.nodes.query import Select
from tests.services.postgres import Postgres
from tests.services.product import Product

PER_TRANSACTION = 20


@dataclass
class Writer:
    """Steady small transactions over some tables; remembers each commit's LSN and moment."""

    dsn: str
    tables: int
    rate: float
    commits: list[tuple[int, float]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Write until stopped."""
        pick = random.Random(7)
        names = [sql.Identifier(f"t{i}") for i in range(self.tables)]
        statement = sql.SQL(
            "insert into {} values (%s, %s, %s, %s, clock_timestamp(), true)"
            " on conflict (id) do update set amt = excluded.amt, at = excluded.at"
        )
        began, done = time.monotonic(), 0
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            while not self.stopped.is_set():
                with connection.transaction():
                    for _ in range(PER_TRANSACTION):
                        done += 1
                        key = pick.randrange(100_000)
                        row = (key, done % 1000, done % 977 / 7, f"name{done}")
                        connection.execute(statement.format(pick.choice(names)), row)
                moment = time.monotonic()
                answer = connection.execute(
                    "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
                ).fetchone()
                self.commits.append((int(answer[0]) if answer else 0, moment))
                ahead = began + done / self.rate - time.monotonic()
                if ahead > 0:
                    time.sleep(ahead)


def measure(server: Postgres, running: Product, seconds: float) -> list[Metric]:
    """p50 and p99 with 1 and with 50 tables at 1,000 changes a second, and their ratio.

    A run that is thrown away comes first: Spark's first minute is its compiler's.
    """
    _lags(server, running, 2, seconds)
    lags = {n: _lags(server, running, n, seconds) for n in (1, 50)}
    found = []
    for tables, values in lags.items():
        for share, target in ((50, 0.6), (99, 1.5)):
            name = f"freshness p{share}, {tables} table{'s' if tables > 1 else ''}"
            found.append(Metric(name, percentile(values, share), "s", target=target))
    few, many = percentile(lags[1], 50), percentile(lags[50], 50)
    return [*found, Metric("freshness p50, 50 tables/1", many, "s", "1 table", few, 1.2)]


def _lags(server: Postgres, running: Product, tables: int, seconds: float) -> list[float]:
    name = f"bench_fresh_{tables}"
    dsn = server.create_database(name)
    upstream.make_small(dsn, tables, "bench")
    product.connect(running, name, dsn)
    product.source(running, f"{name}_source", name, "bench")
    here = {f"{name}_t{i}": f"t{i}" for i in range(tables)}
    product.tables(running, f"{name}_source", here)
    product.wait_running(running, list(here))
    writer = Writer(dsn, tables, 1000)
    thread = threading.Thread(target=writer.run)
    thread.start()
    try:
        seen = _watch(running, f"{name}_source", seconds)
    finally:
        writer.stopped.set()
        thread.join()
    lags = match(writer.commits, seen, warm=8.0)
    print(f"  freshness {tables}: {len(lags)} commits seen", file=sys.stderr)
    product.drop(running, "source", f"{name}_source")
    return lags


def _watch(running: Product, source: str, seconds: float) -> list[tuple[int, float]]:
    """The source's progress, asked for all the time: (LSN, the moment of asking). Asking without
    a pause would be half a core's work for who answers."""
    seen = []
    progress = render(Select(exp.select("lsn").from_(source)))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = time.monotonic()
        seen.append((int(running.value(progress) or 0), asked))
        time.sleep(0.05)
    return seen


def match(
    commits: Sequence[tuple[int, float]], seen: Sequence[tuple[int, float]], warm: float
) -> list[float]:
    """For every commit after the warm-up, how long until progress had passed it."""
    lags = []
    index = 0
    for lsn, moment in commits:
        while index < len(seen) and seen[index][0] < lsn:
            index += 1
        if index == len(seen):
            break
        if moment - commits[0][1] > warm:
            lags.append(seen[index][1] - moment)
    return lags


def percentile(values: Sequence[float], share: int) -> float:
    """The value that `share` percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)]
