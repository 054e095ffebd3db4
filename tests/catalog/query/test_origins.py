"""Which columns a query's columns are made from."""

from __future__ import annotations

import pytest

from catalog.query.origins import Path, origins
from catalog.sql import parse_one
from catalog.sql.nodes.query import Select

ORDERS, ITEMS = ("h", "p", "orders"), ("h", "p", "items")
RELATIONS: dict[Path, list[str]] = {
    ORDERS: ["id", "status", "Big Col"],
    ITEMS: ["oid", "x", "price"],
}


def _origins(sql: str) -> list[set[str]]:
    statement = parse_one(sql).statement
    assert isinstance(statement, Select)
    found = origins(statement.query, RELATIONS)
    assert found is not None
    return [{f"{path[-1]}.{column}" for path, column in one if path} for one in found]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT a.id, count(*) AS n, sum(b.x * b.price) AS t FROM h.p.orders a "
            "JOIN h.p.items b ON a.id = b.oid GROUP BY a.id",
            [{"orders.id"}, set(), {"items.x", "items.price"}],
        ),
        (
            "WITH c(k, v) AS (SELECT oid, x + price FROM h.p.items) SELECT k, v, "
            "(SELECT max(id) FROM h.p.orders o WHERE o.id = c.k) AS m FROM c",
            [{"items.oid"}, {"items.x", "items.price"}, {"orders.id"}],
        ),
        (
            'SELECT "Big Col", id FROM h.p.orders UNION ALL SELECT x, oid FROM h.p.items',
            [{"orders.Big Col", "items.x"}, {"orders.id", "items.oid"}],
        ),
        (
            "SELECT d.* FROM (SELECT id, status FROM h.p.orders) d",
            [{"orders.id"}, {"orders.status"}],
        ),
        (
            "SELECT row_number() OVER (PARTITION BY status ORDER BY id) AS r FROM h.p.orders",
            [{"orders.status", "orders.id"}],
        ),
        ("SELECT id FROM h.p.orders JOIN h.p.items ON oid = id", [{"orders.id"}]),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) "
            "SELECT n FROM t",
            [set()],
        ),
        ("SELECT * FROM (VALUES (1, 2)) v(a, b)", [set(), set()]),
        (
            "SELECT o.id, g FROM h.p.orders o, generate_series(1, o.id) AS g",
            [{"orders.id"}, set()],
        ),
        ("SELECT h.p.orders.id FROM h.p.orders", [{"orders.id"}]),
    ],
)
def test_origins(sql: str, expected: list[set[str]]) -> None:
    assert _origins(sql) == expected
