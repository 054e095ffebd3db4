"""How fast and with how much memory a table is copied, beside COPY, dlt and Spark's JDBC."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable

import psutil
import psycopg
from psycopg import sql

from bench import peers, product, upstream
from bench.metric import Metric
from tests.services.postgres import Postgres
from tests.services.product import Product

MEGABYTE = 1 << 20


class Memory:
    """The peak of what a set of processes holds, sampled ten times a second."""

    def __init__(self, processes: Callable[[], list[psutil.Process]]) -> None:
        self._processes = processes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak = 0.0

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            total = 0
            for process in self._processes():
                try:
                    total += process.memory_full_info().uss
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total / MEGABYTE)


def measure(
    server: Postgres, running: Product, large: int, small: int, rounds: int
) -> list[Metric]:
    """Copy the large table `rounds` times with every party, in alternating order."""
    dsn = server.create_database("bench_snapshot")
    wide = {
        name: upstream.make_wide(dsn, name, n) for name, n in (("wide", large), ("small", small))
    }
    publish(dsn, list(wide))
    product.connect(running, "bench_snapshot", dsn)
    product.source(running, "bench_snapshot_source", "bench_snapshot", "bench")
    parties: dict[str, Callable[[], float]] = {
        "copy": lambda: peers.copy_limit(server, dsn, "wide"),
        "headrace": lambda: copy(running, "wide", wide["wide"])[0],
        "jdbc": lambda: peers.spark_jdbc(dsn, "wide"),
        "dlt": lambda: peers.dlt_delta(dsn, "wide"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in parties}
    copy(running, "small", wide["small"])
    for turn in range(rounds):
        order = list(parties) if turn % 2 == 0 else list(reversed(parties))
        for name in order:
            if (name == "dlt" and turn > 0) or not peers.available(name):
                continue
            seconds[name].append(parties[name]())
            print(f"  snapshot {name}: {large / seconds[name][-1]:,.0f} rows/s", file=sys.stderr)
    peak = {name: copy(running, name, wide[name])[1] for name in wide}
    rate = {name: large / statistics.median(took) for name, took in seconds.items() if took}
    return _metrics(rate, peak)


def _metrics(rate: dict[str, float], peak: dict[str, float]) -> list[Metric]:
    held = (("copy", 0.20), ("dlt", 3.0), ("jdbc", 1.2))
    found = [
        Metric(f"snapshot/{name}", rate["headrace"], "rows/s", name, rate[name], target, "higher")
        for name, target in held
        if name in rate
    ]
    note = "unique memory of the feed's process and Spark's Python workers"
    return [
        *found,
        Metric(
            "snapshot memory 5M/1M", peak["wide"], "MB", "at 1M", peak["small"], 1.1, note=note
        ),
    ]


def publish(dsn: str, names: list[str]) -> None:
    """Publish the tables as `bench`."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create publication bench for table {}").format(
                sql.SQL(", ").join(sql.Identifier(name) for name in names)
            )
        )


def copy(running: Product, table: str, truth: upstream.Truth) -> tuple[float, float]:
    """Create the table here, wait until it can be read, check and drop it: seconds, peak MB."""
    with Memory(lambda: copiers(running)) as memory:
        began = time.monotonic()
        product.tables(running, "bench_snapshot_source", {"copied": table})
        product.wait_running(running, ["copied"])
        took = time.monotonic() - began
    row = running.sql("SELECT count(*), sum(id), sum(amount)*100, count(note) FROM copied")[0]
    found = upstream.Truth(*(int(float(value or 0)) for value in row))
    assert found == truth, f"copied {found}, upstream has {truth}"
    product.drop(running, "table", "copied")
    return took, memory.peak


def copiers(running: Product) -> list[psutil.Process]:
    """The processes that rows pass through: the feed and Spark's Python workers."""
    found = list(running.processes("feed"))
    for spark in running.processes("org.apache.spark.deploy.SparkSubmit"):
        found += spark.children(recursive=True)
    return found
