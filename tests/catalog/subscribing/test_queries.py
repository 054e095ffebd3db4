"""SUBSCRIBE to queries, maintained for as long as somebody reads."""

from __future__ import annotations

import pytest

from catalog.subscribing import follower
from tests.catalog.subscribing.conftest import Place

pytestmark = pytest.mark.spark

QUERIES = (
    "SELECT c.name, o.amount FROM orders o JOIN customers c ON c.id = o.customer WHERE amount > 5",
    "SELECT customer, count(*) AS n, sum(amount) AS total FROM orders GROUP BY customer",
    "SELECT id, amount FROM orders ORDER BY amount DESC, id LIMIT 2",
    "SELECT id, (SELECT max(amount) FROM orders) AS most FROM customers",
)
CHANGES = (
    "INSERT INTO orders VALUES (3, 2, 30), (4, 1, 4)",
    "UPDATE orders SET amount = 50 WHERE id = 1",
    "INSERT INTO customers VALUES (3, 'c')",
    "DELETE FROM customers WHERE id = 2",
    "DELETE FROM orders WHERE id = 3",
)


def _shop(place: Place) -> None:
    place.run("CREATE TABLE customers (id int, name text)")
    place.run("CREATE TABLE orders (id int, customer int, amount int)")
    place.run("INSERT INTO customers VALUES (1, 'a'), (2, 'b')")
    place.run("INSERT INTO orders VALUES (1, 1, 10), (2, 2, 3)")


def test_queries_are_what_they_give_at_every_progress(place: Place) -> None:
    _shop(place)
    readers = [place.subscribe(f"SUBSCRIBE ({query}) WITH (PROGRESS)") for query in QUERIES]
    also = place.subscribe(f"SUBSCRIBE ({QUERIES[0]}) WITH (PROGRESS)")
    for change in CHANGES:
        place.run(change)
        end = place.now("orders")
        for query, reader in zip(QUERIES, readers, strict=True):
            told = reader.until_progress(end) - 1
            want = place.rows(f"SELECT * FROM ({query}) q AS OF {told}")
            assert reader.state(told + 1) == want, (change, query)
    also.until_progress(end)
    assert also.state(also.progress) == readers[0].state(readers[0].progress)
    shared = [found for found in follower.followers() if found.readers == 2]
    assert len(shared) == 1
    assert shared[0].computed <= len(CHANGES)


def test_resuming_a_query(place: Place) -> None:
    _shop(place)
    query = QUERIES[1]
    first = place.subscribe(f"SUBSCRIBE ({query}) WITH (PROGRESS)")
    place.run(CHANGES[0])
    cut = first.until_progress(place.now("orders")) - 1
    first.close()
    state = first.state(cut + 1)
    place.run(CHANGES[1])
    place.run(CHANGES[4])
    end = place.now("orders")
    again = place.subscribe(f"SUBSCRIBE ({query}) WITH (PROGRESS, SNAPSHOT = false) AS OF {cut}")
    again.until_progress(end)
    for row in again.rows:
        if row[1] == "f":
            state[row[3:]] += int(row[2] or 0)
    assert +state == place.rows(query)
    assert all(count >= 0 for count in state.values())


def test_plain_views_and_the_clock(place: Place) -> None:
    _shop(place)
    place.run("CREATE VIEW rich AS SELECT customer FROM orders WHERE amount > 5")
    view = place.subscribe("SUBSCRIBE rich")
    clock = place.subscribe("SUBSCRIBE (SELECT mz_now() AS t, count(*) AS n FROM orders)")
    assert view.until(1)[0][1:] == ("1", "1")
    place.run(CHANGES[0])
    assert view.until(2)[1][1:] == ("1", "2")
    rows = clock.until(5)
    assert rows[0][1] == "1"
    assert [row[1] for row in rows[1:3]] == ["-1", "1"]
    assert int(rows[2][2] or 0) == int(rows[2][0] or 0)


def test_an_end_in_the_middle_of_a_step(place: Place) -> None:
    _shop(place)
    place.run(CHANGES[0])
    middle = place.now("orders")
    place.run(CHANGES[1])
    place.now("orders")
    start = int(place.subscribe("SUBSCRIBE orders").until(1)[0][0] or 0)
    assert start > middle
    early = place.subscribe(f"SUBSCRIBE ({QUERIES[1]}) AS OF {middle - 1} UP TO {middle + 1}")
    assert early.to_the_end()
    assert {int(row[0] or 0) for row in early.rows} <= {middle - 1, middle}
