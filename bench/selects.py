"""What a SELECT costs beside Spark itself on the same Delta files, with a full tail behind it.

The base holds a million rows and the log ten thousand changes that it does not. Beside it stands
the same answer from a Spark session of the bench's own: once from base and log with the statement
one would write by hand (newest version per key), and once from the base alone, which answers with
rows of the past and is the floor.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
from pyspark.sql import SparkSession

from bench import product, upstream
from bench.metric import Metric
from tests.services.postgres import Postgres
from tests.services.product import Product

QUERIES = {
    "sum": "SELECT sum(amount) FROM {}",
    "group": "SELECT status, count(*), sum(amount) FROM {} GROUP BY status",
    "filter": "SELECT count(*) FROM {} WHERE note LIKE '%abc%'",
    "top": "SELECT id, amount FROM {} ORDER BY amount DESC LIMIT 20",
}
_BY_HAND = """
with newest as (
  select cast(after[0] as bigint) id, cast(after[1] as int) customer_id,
         cast(after[2] as decimal(12,2)) amount, cast(after[3] as double) score, after[4] status,
         after[5] note, op, key,
         row_number() over (partition by key order by time desc, seq desc) n
  from log)
select id, amount, status, note from base
 where not exists (select 1 from newest where n = 1 and newest.key[0] = cast(base.id as string))
union all select id, amount, status, note from newest where n = 1 and op <> 'd'
"""


def measure(server: Postgres, running: Product, rows: int, rounds: int) -> list[Metric]:
    """Medians over `rounds`, parties in alternating order."""
    dsn = server.create_database("bench_select")
    upstream.make_wide(dsn, "wide", rows)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create publication bench for table wide")
        product.connect(running, "bench_select", dsn)
        product.source(running, "bench_select_source", "bench_select", "bench")
        product.tables(running, "bench_select_source", {"bench_wide": "wide"})
        product.wait_running(running, ["bench_wide"])
        _fill_tail(connection, running)
    spark = SparkSession.builder.remote(_remote(running)).create()
    base, log = _paths(running)
    spark.read.format("delta").load(base).createOrReplaceTempView("base")
    spark.read.format("delta").load(log).createOrReplaceTempView("log")
    spark.sql(_BY_HAND).createOrReplaceTempView("whole")
    found = []
    for name, text in QUERIES.items():
        parties: dict[str, Callable[[], object]] = {
            "headrace": partial(running.sql, text.format("bench_wide")),
            "whole": partial(_collect, spark, text.format("whole")),
            "base": partial(_collect, spark, text.format("base")),
        }
        took = _alternate(parties, rounds)
        print(f"  select {name}: {took}", file=sys.stderr)
        ours = took["headrace"]
        found.append(Metric(f"select {name}", ours, "ms", "Spark, by hand", took["whole"], 1.3))
        note = "the base alone: an answer without the tail"
        found.append(
            Metric(f"select {name}, floor", ours, "ms", "Spark, base", took["base"], note=note)
        )
    spark.client.close()
    product.drop(running, "source", "bench_select_source")
    return found


def _collect(spark: SparkSession, text: str) -> object:
    return spark.sql(text).toArrow()


def _alternate(parties: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in parties}
    for turn in range(rounds + 2):
        for name in list(parties) if turn % 2 else list(reversed(parties)):
            began = time.monotonic()
            parties[name]()
            if turn >= 2:
                times[name].append((time.monotonic() - began) * 1000)
    return {name: round(statistics.median(values), 1) for name, values in times.items()}


def _fill_tail(connection: psycopg.Connection, running: Product) -> None:
    """Ten thousand updates in twenty transactions, and wait until they are here."""
    for batch in range(20):
        connection.execute(
            "update wide set amount = amount + 1 where id %% 100 = 0 and (id / 100) %% 20 = %s",
            (batch,),
        )
        time.sleep(0.3)
    lsn = connection.execute("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert lsn is not None
    while int(running.value("SELECT lsn FROM bench_select_source") or 0) < int(lsn[0]):
        time.sleep(0.1)


def _remote(running: Product) -> str:
    facts = json.loads((running.home / "run" / "services.json").read_text())
    return str(facts["remote"])


def _paths(running: Product) -> tuple[str, str]:
    """The newest table's base and the newest feed's log."""
    warehouse = running.home / "warehouse"
    return str(_newest(warehouse / "tables") / "base"), str(_newest(warehouse / "feeds") / "log")


def _newest(folder: Path) -> Path:
    return max(folder.iterdir(), key=lambda path: path.stat().st_ctime)
