"""Queries of every kind that a view can be kept by; each changes with the tables of `world`."""

from __future__ import annotations

SHAPES = {
    "filter": "SELECT id, amount FROM orders WHERE amount > 10",
    "project": "SELECT customer, upper(state) AS state FROM orders",
    "join": "SELECT o.id, c.region, o.amount FROM orders AS o JOIN customers AS c"
    " ON c.id = o.customer",
    "left join": "SELECT o.id, c.region FROM orders AS o LEFT JOIN customers AS c"
    " ON c.id = o.customer",
    "full join": "SELECT o.id, c.id AS customer FROM orders AS o FULL JOIN customers AS c"
    " ON c.id = o.customer",
    "self join": "SELECT a.id, b.id AS other FROM orders AS a JOIN orders AS b"
    " ON b.customer = a.customer AND b.id < a.id AND a.id < 60",
    "group": "SELECT customer, count(*) AS n, sum(amount) AS total, avg(amount) AS mean,"
    " min(amount) AS least, max(amount) AS most FROM orders GROUP BY customer",
    "group of a join": "SELECT c.region, count(DISTINCT o.customer) AS n, sum(o.amount) AS total"
    " FROM orders AS o JOIN customers AS c ON c.id = o.customer GROUP BY c.region",
    "having": "SELECT state, count(*) AS n FROM orders GROUP BY state HAVING count(*) > 20",
    "one row": "SELECT count(*) AS n, sum(v) AS total, max(word) AS last FROM notes",
    "plain groups": "SELECT k, word, count(*) AS n, sum(v) AS total FROM notes GROUP BY k, word",
    "distinct": "SELECT DISTINCT customer, state FROM orders",
    "union": "SELECT customer AS k, state AS word FROM orders UNION SELECT k, word FROM notes",
    "union all": "SELECT id AS n FROM orders WHERE state = 'paid' UNION ALL SELECT v FROM notes",
    "top": "SELECT id, amount FROM orders ORDER BY amount DESC, id LIMIT 7",
    "top of each": "SELECT customer, id, amount FROM (SELECT customer, id, amount, row_number()"
    " OVER (PARTITION BY customer ORDER BY amount DESC, id) AS place FROM orders) AS q"
    " WHERE place <= 2",
    "distinct on": "SELECT DISTINCT ON (customer) customer, id, amount FROM orders"
    " ORDER BY customer, amount DESC, id",
    "exists": "SELECT id, region FROM customers AS c WHERE EXISTS"
    " (SELECT 1 FROM orders AS o WHERE o.customer = c.id AND o.amount > 20)",
    "except": "SELECT id FROM customers EXCEPT SELECT customer FROM orders",
    "scalar": "SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)",
    "with": "WITH t AS (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer)"
    " SELECT a.customer, b.total FROM t AS a JOIN t AS b ON b.customer = a.customer",
}
