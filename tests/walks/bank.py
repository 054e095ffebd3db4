"""pgbench's bank upstream, its four tables here, and whether the two agree."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from bench import product as setting_up
from ingest import delta
from tests.services.postgres import Postgres
from tests.services.product import Product

COLUMNS = {
    "accounts": ("aid", "bid", "abalance", "filler"),
    "tellers": ("tid", "bid", "tbalance", "filler"),
    "branches": ("bid", "bbalance", "filler"),
    "history": ("tid", "bid", "aid", "delta", "mtime", "filler"),
}
MONEY = {
    "accounts": "abalance",
    "tellers": "tbalance",
    "branches": "bbalance",
    "history": "delta",
}
Text = tuple[str | None, ...]
Load = subprocess.Popen[bytes]


@dataclass
class Bank:
    """The database `name` upstream; its source and tables here begin with the name."""

    server: Postgres
    product: Product
    name: str
    dsn: str = field(default="")

    def make(self, scale: int = 1) -> None:
        """Fill pgbench's tables and publish all four; `history` has no key."""
        self.dsn = self.server.create_database(self.name)
        self._pgbench("-i", "-q", "-s", str(scale)).wait(120)
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("alter table pgbench_history replica identity full")
            connection.execute("create publication bank for all tables")

    def follow(self) -> None:
        """Make the connection, the source and the four tables here, and wait for them."""
        setting_up.connect(self.product, self.name, self.dsn)
        setting_up.source(self.product, self.source, self.name, "bank")
        tables = {self.here(table): f"pgbench_{table}" for table in COLUMNS}
        setting_up.tables(self.product, self.source, tables)
        setting_up.wait_running(self.product, list(tables))

    @property
    def source(self) -> str:
        """The source's name."""
        return f"{self.name}_source"

    def here(self, table: str) -> str:
        """A table's name here."""
        return f"{self.name}_{table}"

    @contextmanager
    def busy(self, seconds: float, rate: int, *, whole: bool = True) -> Iterator[Load]:
        """pgbench at work, `rate` transactions a second; it has ended after the block, by itself
        if the `whole` time is wanted."""
        running = self._pgbench("-n", "-c", "4", "-T", str(round(seconds)), "-R", str(rate))
        try:
            yield running
            if whole:
                output = running.communicate(timeout=seconds + 60)[0]
                assert running.returncode == 0, output
        finally:
            running.kill()
            running.wait()

    def balances(self) -> tuple[int, list[int]]:
        """The four sums in one SELECT, and the time it read at."""
        sums = [f"(SELECT sum({MONEY[t]}) FROM {self.here(t)}) AS {t}" for t in MONEY]
        row = self.product.sql(f"SELECT mz_now() AS at, {', '.join(sums)}")[0]
        return int(row[0] or 0), [int(value or 0) for value in row[1:]]

    def balances_at(self, time_: int) -> list[int]:
        """The four sums at a time, each by a SELECT of its own."""
        queries = [
            f"SELECT sum({column}) FROM {self.here(table)} AS OF {time_}"
            for table, column in MONEY.items()
        ]
        return [int(self.product.value(query) or 0) for query in queries]

    def catch_up(self, timeout: float = 120) -> None:
        """Wait until the source's progress has passed everything committed upstream."""
        with psycopg.connect(self.dsn) as connection:
            query = "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
            row = connection.execute(query).fetchone()
        assert row is not None
        deadline = time.monotonic() + timeout
        while int(self.product.value(f"SELECT lsn FROM {self.source}") or 0) < row[0]:
            assert time.monotonic() < deadline, "the source does not catch up"
            time.sleep(0.1)

    def upstream_rows(self, table: str) -> Counter[Text]:
        """All rows upstream, as text."""
        shown = sql.SQL("case when {0} is not null then format('%s', {0}) end")
        columns = [shown.format(sql.Identifier(column)) for column in COLUMNS[table]]
        query = sql.SQL("select {} from {}").format(
            sql.SQL(", ").join(columns), sql.Identifier(f"pgbench_{table}")
        )
        with psycopg.connect(self.dsn) as connection:
            return Counter(tuple(row) for row in connection.execute(query))

    def rows(self, table: str) -> Counter[Text]:
        """All rows here, as text."""
        found = self.product.sql(f"SELECT {', '.join(COLUMNS[table])} FROM {self.here(table)}")
        return Counter(tuple(None if v is None else str(v) for v in row) for row in found)

    def folds(self) -> dict[str, int]:
        """How often each table's tail was folded into its base, by table here."""
        names = {gid: name for name, gid in self.product.sql("SELECT name, id FROM mz_tables")}
        found = {}
        for shard in (self.product.home / "warehouse" / "tables").iterdir():
            name = names.get(shard.name.partition("-")[0])
            moved = [v for v in delta.versions(str(shard / "base")) if "frontier_" in v.metadata]
            if name is not None:
                found[name] = len(moved) - 1
        return found

    def compactions(self) -> int:
        """How often the logs' small files were joined."""
        logs: list[Path] = list((self.product.home / "warehouse" / "feeds").glob("*/log"))
        return sum(v.operation == "OPTIMIZE" for log in logs for v in delta.versions(str(log)))

    def _pgbench(self, *options: str) -> Load:
        program = self.server.binaries / "pgbench"
        environment = os.environ | {"PGPASSWORD": self.server.password}
        return subprocess.Popen(
            [str(program), *options, self.dsn],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
