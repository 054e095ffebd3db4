"""pgbench upstream, its four tables here: whole transactions at every moment, equal at the end.

The logs are joined and the tails folded all the while. HEADRACE_SOAK says for how many seconds
pgbench runs; `make soak` lets it run for five minutes.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql

from bench import product as setting_up
from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.walks.bank import COLUMNS, Bank

SOAK = float(os.environ.get("HEADRACE_SOAK", "40"))
pytestmark = [
    pytest.mark.faults,
    pytest.mark.postgres,
    pytest.mark.spark,
    pytest.mark.timeout(600 + 2 * SOAK),
]
MOMENTS = 10
READERS = 8


@pytest.fixture(scope="module")
def bank(postgres: Postgres, busy_product: Product) -> Iterator[Bank]:
    made = Bank(postgres, busy_product, "bank")
    made.make()
    made.follow()
    made.balances()
    yield made
    busy_product.sql("DROP SOURCE bank_source CASCADE")


def test_transactions_are_whole_at_any_time_and_tables_equal_at_the_end(bank: Bank) -> None:
    pick = random.Random(5)
    folded, joined = sum(bank.folds().values()), bank.compactions()
    with bank.busy(SOAK, rate=200) as running:
        for _ in range(MOMENTS):
            _same_sums(bank)
            if running.poll() is None:
                time.sleep(pick.uniform(0, SOAK / MOMENTS / 2))
    bank.catch_up()
    _same_sums(bank)
    assert _equal_upstream(bank) > 0
    _wait_for_upkeep(bank, folded, joined)
    assert _equal_upstream(bank) > 0


def _same_sums(bank: Bank) -> None:
    """The tables agree with each other in one SELECT, and say the same of that time again."""
    moment, sums = bank.balances()
    assert len(set(sums)) == 1, (moment, sums)
    again = bank.balances_at(moment)
    assert again == sums, (moment, sums, again)


def _equal_upstream(bank: Bank) -> int:
    """Compare every row of every table; how many accounts have moved."""
    for table in COLUMNS:
        there, here = bank.upstream_rows(table), bank.rows(table)
        assert here == there, (table, _first(here - there), _first(there - here))
    return sum(row[2] != "0" for row in bank.rows("accounts"))


def _first(rows: Counter[tuple[str | None, ...]]) -> list[tuple[str | None, ...]]:
    return list(rows)[:3]


def _wait_for_upkeep(bank: Bank, folded: int, joined: int) -> None:
    """The work in the background has happened, at the latest a little after the load."""
    deadline = time.monotonic() + 60
    while not (sum(bank.folds().values()) > folded and bank.compactions() > joined):
        assert time.monotonic() < deadline, (bank.folds(), bank.compactions())
        time.sleep(0.5)


def test_many_readers_while_tails_are_folded(bank: Bank) -> None:
    """Nobody fails because files were joined or a base was rewritten under their query."""
    stop = threading.Event()
    wrong: list[object] = []
    reads: list[int] = []

    def read() -> None:
        own = replace(bank, product=replace(bank.product, _connection=None))
        while not stop.is_set():
            try:
                moment, sums = own.balances()
            except Exception as error:
                wrong.append(error)
                return
            reads.append(moment)
            if len(set(sums)) > 1:
                wrong.append((moment, sums))

    folded = sum(bank.folds().values())
    threads = [threading.Thread(target=read) for _ in range(READERS)]
    with bank.busy(max(20.0, SOAK / 4), rate=150):
        for thread in threads:
            thread.start()
    _wait_for_folds(bank, folded)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(reads) >= READERS


def _wait_for_folds(bank: Bank, folded: int) -> None:
    deadline = time.monotonic() + 60
    while sum(bank.folds().values()) == folded:
        assert time.monotonic() < deadline, bank.folds()
        time.sleep(0.5)


ODD = 'Odd "Table"; DROP'
ODD_COLUMNS = ("Id", "a b", "ü;{x}", "select", "n,1")


def test_awkward_names_and_rows_that_do_not_fit(postgres: Postgres, busy_product: Product) -> None:
    """A fold sets aside what has no form here, and only that; it comes back once it fits."""
    dsn = postgres.create_database("awkward")
    names = sql.SQL(", ").join(map(sql.Identifier, ODD_COLUMNS))
    table = sql.Identifier(ODD)
    with psycopg.connect(dsn, autocommit=True) as upstream:
        upstream.execute(
            sql.SQL(
                "create table {} ({} numeric primary key, {} text, {} numeric, {} date, {} int[])"
            ).format(table, *map(sql.Identifier, ODD_COLUMNS))
        )
        upstream.execute(
            sql.SQL(
                "insert into {} select g, 'é'||g, g / 8.0, '2024-02-29', array[g, null]"
                " from generate_series(1, 500) g"
            ).format(table)
        )
        upstream.execute("create publication odd for all tables")
        product = busy_product
        setting_up.connect(product, "awkward", dsn)
        setting_up.source(product, "awkward_source", "awkward", "odd")
        here = _quoted(ODD)
        product.sql(f"CREATE TABLE {here} FROM SOURCE awkward_source (REFERENCE public.{here})")
        setting_up.wait_running(product, [ODD])
        amount, key = sql.Identifier(ODD_COLUMNS[2]), sql.Identifier(ODD_COLUMNS[0])
        for change in (
            "update {t} set {a} = {a} + 1",
            "update {t} set {a} = 'NaN' where {k} in (7, 8)",
            "update {t} set {a} = 1e30 where {k} = 9",
            "update {t} set {k} = 10.00 where {k} = 10",
            "delete from {t} where {k} = 11",
            "insert into {t} ({k}) select g from generate_series(501, 4000) g",
            "update {t} set {a} = 3.5 where {k} = 8",
        ):
            upstream.execute(sql.SQL(change).format(t=table, a=amount, k=key))
        fits = sql.SQL("select {} from {} where {} is null or {} < 1e18").format(
            names, table, amount, amount
        )
        expected = Counter(tuple(map(_plain, row)) for row in upstream.execute(fits))
    bank = Bank(postgres, product, "awkward", dsn)
    for _ in ("from the tail", "from the base"):
        bank.catch_up()
        assert _typed(product, here) == expected
        _wait_for_folds(bank, 0)
    said = product.value(f"SELECT count(*) FROM {here} WHERE {_quoted(ODD_COLUMNS[0])} IN (7, 9)")
    assert said == "0"
    product.sql("DROP SOURCE awkward_source CASCADE")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _typed(product: Product, table: str) -> Counter[tuple[str, ...]]:
    columns = ", ".join(map(_quoted, ODD_COLUMNS))
    return Counter(
        tuple(map(_plain, row)) for row in product.sql(f"SELECT {columns} FROM {table}")
    )


def _plain(value: object) -> str:
    if isinstance(value, list):
        return "{" + ",".join(map(_plain, value)) + "}"
    text = str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text
