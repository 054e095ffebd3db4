"""The upstream of the fault tests: a bank whose books balance, written to without a pause."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import sql

TABLES = {
    "accounts": ("id", "balance", "moves", "note"),
    "ledger": ("id", "debit", "credit", "amount", "at"),
    "marks": ("ledger", "text"),
    "wide": ("id", "n", "note"),
}
"""Tables of the publication `faults`, with their columns."""

_WIDE = 60_000
_ACCOUNTS = 40
_PAUSE = 0.04
_SCHEMA = """
    create table accounts (id int primary key, balance numeric(12,2) not null default 0,
        moves int not null default 0, note text);
    create table ledger (id bigint primary key, debit int not null, credit int not null,
        amount numeric(12,2) not null, at timestamptz not null default clock_timestamp());
    create table marks (ledger bigint, text text);
    alter table marks replica identity full;
    create table wide (id int primary key, n int not null, note text);
    insert into accounts (id, note) select i, (select string_agg(md5(random()::text), '')
        from generate_series(1, 200) where i % 4 = 0) from generate_series(1, {accounts}) i;
    insert into wide select i, 0, md5(i::text) from generate_series(1, {wide}) i;
    create publication faults for table accounts, ledger, marks, wide;
    create publication second for table accounts, wide;
    analyze;
"""


def make(dsn: str) -> None:
    """Create the tables and publications."""
    schema = sql.SQL(_SCHEMA).format(accounts=sql.Literal(_ACCOUNTS), wide=sql.Literal(_WIDE))
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(schema)


def rows(dsn: str, table: str) -> Counter[tuple[Any, ...]]:
    """Every row of a table, as text."""
    columns = [sql.SQL("{}::text").format(sql.Identifier(c)) for c in TABLES[table]]
    query = sql.SQL("select {} from {}").format(sql.SQL(", ").join(columns), sql.Identifier(table))
    with psycopg.connect(dsn, options="-c timezone=UTC") as session:
        return Counter(session.execute(query).fetchall())


def slots(dsn: str) -> int:
    """How many replication slots there are, temporary ones too."""
    return _number(dsn, "select count(*) from pg_replication_slots")


def held(dsn: str) -> int:
    """How many sessions of the product hold a snapshot."""
    return _number(
        dsn,
        "select count(*) from pg_stat_activity"
        " where application_name = 'headrace' and state = 'idle in transaction'",
    )


def _number(dsn: str, query: LiteralString) -> int:
    with psycopg.connect(dsn, connect_timeout=3) as session:
        row = session.execute(query).fetchone()
    return int(row[0]) if row else 0


class Writer(threading.Thread):
    """Moves money in transactions over several tables; comes back when the server does.

    Per transaction two accounts, one ledger line, now and then marks (no key) and `wide`; the
    sum of balances stays 0, the sum of moves twice the number of lines, line numbers have no gap.
    """

    def __init__(self, dsn: str) -> None:
        super().__init__(daemon=True, name="writer")
        self._dsn = dsn
        self._stopped = threading.Event()
        self._turn = threading.Lock()
        self._random = random.Random(11)
        self.commits: list[tuple[int, float]] = []

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                with psycopg.connect(self._dsn, autocommit=True, connect_timeout=3) as session:
                    self._write(session)
            except psycopg.OperationalError:
                time.sleep(0.2)

    def stop(self) -> None:
        """End after the transaction that runs."""
        self._stopped.set()
        self.join(30)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No transaction while the block runs."""
        with self._turn:
            yield

    def behind(self, position: int) -> float:
        """How long (s) the oldest commit after upstream `position` has been waiting."""
        waiting = [moment for lsn, moment in reversed(self.commits[-20_000:]) if lsn > position]
        return time.monotonic() - waiting[-1] if waiting else 0.0

    def _write(self, session: psycopg.Connection[Any]) -> None:
        while not self._stopped.is_set():
            with self._turn:
                self._transaction(session)
                query = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
                row = session.execute(query).fetchone()
                assert row is not None
                self.commits.append((int(row[0]), time.monotonic()))
            time.sleep(_PAUSE)

    def _transaction(self, session: psycopg.Connection[Any]) -> None:
        debit, credit = self._random.sample(range(1, _ACCOUNTS + 1), 2)
        amount = self._random.randrange(1, 100_000) / 100
        move = "update accounts set balance = balance + %s, moves = moves + 1 where id = %s"
        with session.transaction():
            row = session.execute("select coalesce(max(id), 0) + 1 from ledger").fetchone()
            assert row is not None
            line = int(row[0])
            session.execute(move, (-amount, debit))
            session.execute(
                "insert into ledger (id, debit, credit, amount) values (%s, %s, %s, %s)",
                (line, debit, credit, amount),
            )
            session.execute(move, (amount, credit))
            self._extras(session, line)

    def _extras(self, session: psycopg.Connection[Any], line: int) -> None:
        if line % 5 == 0:
            session.execute(
                "insert into marks select %s, 'twin' from generate_series(1, 2)", (line,)
            )
        if line % 20 == 0:
            session.execute("delete from marks where ledger = %s", (line - 10,))
            session.execute("update marks set text = 'kept' where ledger = %s", (line - 5,))
        key = self._random.randrange(1, _WIDE + 1)
        session.execute("update wide set n = n + 1 where id = %s", (key,))
        if line % 10 == 0:
            session.execute("delete from wide where id = %s", (key,))
            session.execute("insert into wide values (%s, %s, 'anew')", (_WIDE + line, line))
