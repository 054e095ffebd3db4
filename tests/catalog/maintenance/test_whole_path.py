"""CREATE MATERIALIZED VIEW, its rows, and how they follow: everything on a real Spark."""

from __future__ import annotations

import pytest

from tests.catalog.maintenance.conftest import Region

pytestmark = pytest.mark.spark

SETUP = """
    CREATE TABLE orders (id int, customer text, amount int);
    INSERT INTO orders VALUES (1, 'ada', 10), (2, 'bob', 20), (3, 'ada', 30);
"""


def test_created_hydrated_kept_and_read(region: Region) -> None:
    for statement in SETUP.split(";")[:2]:
        region.run(statement)
    region.run(
        "CREATE MATERIALIZED VIEW spent AS "
        "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
    )
    assert not region.progress("spent").hydrated
    region.hydrate()
    assert region.progress("spent").hydrated
    assert region.run("SELECT * FROM spent ORDER BY customer") == [("ada", 40), ("bob", 20)]
    region.run("INSERT INTO orders VALUES (4, 'bob', 5), (5, 'eve', 1)")
    region.keep()
    assert region.progress("spent").status == "running"
    rows = region.run("SELECT * FROM spent ORDER BY customer")
    assert rows == [("ada", 40), ("bob", 25), ("eve", 1)]
