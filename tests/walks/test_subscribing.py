"""SUBSCRIBE over the product's websockets, to a table that a real PostgreSQL feeds."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from bench import product as setting_up
from tests.services.postgres import Postgres
from tests.services.product import Product
from tests.services.websocket import query_socket, sql_socket
from tests.walks.regions import until

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

SCHEMA = """
create table accounts (id int primary key, balance int not null, note text);
insert into accounts select n, 100, 'account ' || n from generate_series(1, 50) n;
create publication everything for all tables;
"""


@pytest.fixture(scope="module")
def upstream(busy_product: Product, postgres: Postgres) -> Iterator[str]:
    """A database with accounts, and `accounts` here."""
    dsn = postgres.create_database("subscribing")
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(SCHEMA)
    setting_up.connect(busy_product, "subscribing", dsn)
    setting_up.source(busy_product, "subscribed", "subscribing", "everything")
    setting_up.tables(busy_product, "subscribed", {"accounts": "accounts"})
    setting_up.wait_running(busy_product, ["accounts"])
    yield dsn
    busy_product.sql("DROP SOURCE IF EXISTS subscribed CASCADE")


def _transfers(dsn: str, count: int) -> None:
    """Transactions that move money, each at once here or not at all."""
    with psycopg.connect(dsn) as session:
        for number in range(count):
            one, other = 1 + number * 7 % 50, 1 + number * 13 % 50
            session.execute("update accounts set balance = balance - 1 where id = %s", (one,))
            session.execute("update accounts set balance = balance + 1 where id = %s", (other,))
            if number % 5 == 0:
                session.execute("insert into accounts select max(id) + 1000, 0 from accounts")
            session.commit()


def test_every_progress_is_a_moment_of_the_table(upstream: str, busy_product: Product) -> None:
    with sql_socket(busy_product) as reader:
        reader.ask("SUBSCRIBE accounts WITH (PROGRESS)")
        reader.until(lambda: len(reader.rows) > 50)
        assert reader.columns == [
            *("mz_timestamp", "mz_progressed", "mz_diff"),
            *("id", "balance", "note"),
        ]
        writer = threading.Thread(target=_transfers, args=(upstream, 200))
        writer.start()
        moments: list[int] = []
        while writer.is_alive() or len(moments) < 3:
            before = reader.progress
            reader.until(lambda: reader.progress > before)  # noqa: B023 (called at once)
            moments.append(reader.progress)
            state = reader.state(moments[-1])
            assert sum(int(row[1]) * count for row, count in state.items()) == 5000
            assert all(count == 1 for count in state.values())
        writer.join()
        told = [int(row[0]) for row in reader.rows]
        assert told == sorted(told)
        for moment in moments[-3:]:
            rows = busy_product.sql(f"SELECT * FROM accounts AS OF {moment - 1}")
            assert reader.state(moment) == Counter(tuple(row) for row in rows), moment


def test_a_cut_leaves_no_gap_and_no_repeat(upstream: str, busy_product: Product) -> None:
    with sql_socket(busy_product) as first:
        first.ask("SUBSCRIBE accounts WITH (PROGRESS)")
        writer = threading.Thread(target=_transfers, args=(upstream, 100))
        writer.start()
        first.until(lambda: len(first.rows) > 100)
        cut = first.progress - 1
        seen = first.state(cut + 1)
    writer.join()
    with sql_socket(busy_product) as again:
        again.ask(f"SUBSCRIBE accounts WITH (PROGRESS, SNAPSHOT = false) AS OF {cut}")
        with psycopg.connect(upstream, autocommit=True) as session:
            session.execute("insert into accounts values (9999, 0, 'the last')")
        again.until(lambda: any(row[3] == "9999" for row in again.rows))
        end = int(next(row[0] for row in again.rows if row[3] == "9999"))
        again.until(lambda: again.progress > end)
        for row in again.rows:
            if row[1] is False:
                assert int(row[0]) > cut
                seen[tuple(row[3:])] += int(row[2])
    want = busy_product.sql(f"SELECT * FROM accounts AS OF {again.progress - 1}")
    assert +seen == Counter(tuple(row) for row in want)
    assert all(count >= 0 for count in seen.values())


def test_many_readers_one_computation(upstream: str, busy_product: Product) -> None:
    lines = [query_socket(busy_product, "SUBSCRIBE accounts") for _ in range(4)]
    try:
        for line in lines:
            assert "desc" in json.loads(line.recv(timeout=120))
            assert json.loads(line.recv(timeout=120))["rows"]
        asked = "SELECT readers, computed, own_reads, rows_told FROM mz_internal.mz_subscriptions"
        with psycopg.connect(upstream, autocommit=True) as session:
            for number in range(5):
                session.execute("update accounts set balance = balance where id = 1")
                session.execute("update accounts set note = %s where id = 1", (str(number),))
                for line in lines:
                    while not _told(line.recv(timeout=120), str(number)):
                        pass
        until(lambda: int(busy_product.sql(asked)[0][1] or 0) >= 5, 30)
        found = busy_product.sql(asked)
        assert {row[0] for row in found} == {"4"}
        assert {row[2] for row in found} == {"0"}
        assert int(found[0][1] or 0) <= 12, found
    finally:
        for line in lines:
            line.close()


def _told(message: str | bytes, note: str) -> bool:
    return any(row[1] == "1" and row[4] == note for row in json.loads(message)["rows"])


def test_the_ends_of_a_subscription(upstream: str, busy_product: Product) -> None:
    refused = busy_product.results("SUBSCRIBE accounts")[0]["error"]
    assert refused["message"] == "unsupported via this API: SUBSCRIBE accounts"
    with pytest.raises(InvalidStatus):
        connect(
            f"ws://127.0.0.1:{busy_product.port}/api/experimental/sql",
            additional_headers={"Origin": "http://elsewhere.example"},
        )
    with sql_socket(busy_product) as line:
        line.ask("SUBSCRIBE nothing")
        assert line.answer()[0][1]["code"] == "42P01"
        line.ask("SELECT count(*) FROM accounts")
        assert line.answer()[-2] == ("CommandComplete", "SELECT 1")
        now = int(busy_product.value("SELECT mz_now()") or 0)
        line.ask(f"SUBSCRIBE accounts AS OF {now - 500} UP TO {now + 1500}")
        assert line.answer()[-2] == ("CommandComplete", "SUBSCRIBE")
        busy_product.sql("CREATE TABLE short (a int)")
        line.ask("SUBSCRIBE short WITH (PROGRESS)")
        line.until(lambda: line.progress > 0)
        busy_product.sql("DROP TABLE short")
        kind, error = next(said for said in iter(line.hear, None) if said[0] == "Error")
        assert "was dropped" in error["message"], (kind, error)
