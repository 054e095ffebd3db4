"""Three small tables that change at random, and queries of every shape over them."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path

import sqlglot
from sqlglot import exp

from catalog.query.compile import MaintainedQuery, compile_view
from catalog.query.names import Resolved
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

Row = tuple[object, ...]
Rows = Counter[Row]


def relation(columns: str, *key: str) -> Relation:
    """Columns from `name type, ..`."""
    fields = (field.split(" ", 1) for field in columns.split(", "))
    return Relation(tuple(Column(n, Type.parse(t), n not in key) for n, t in fields), key)


TABLES = {
    "u1": relation("a int, b int, s text, d numeric(10,2), f double precision"),
    "u2": relation("a int, c int, s text"),
    "u3": relation("k int, a int, v int", "k"),
}
VIEWS = {
    "per_a": ("a int, n bigint", "SELECT a, count(*) AS n FROM t GROUP BY a"),
    "wide": ("a int, b int, c int", "SELECT t.a, t.b, u.c FROM t LEFT JOIN u ON t.a = u.a"),
    "many": ("a int, n bigint", "SELECT a, n FROM per_a WHERE n > 1"),
}


class Names:
    """`t`, `u`, `w` and three views over them."""

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """One part only."""
        ids = {"t": "u1", "u": "u2", "w": "u3"}
        name = parts[-1]
        if name in ids:
            found = TABLES[ids[name]]
            return Resolved(ids[name], "table", found, key=found.key)
        if name not in VIEWS:
            return None
        columns, sql = VIEWS[name]
        query = sqlglot.parse_one(sql, read="postgres")
        assert isinstance(query, exp.Query)
        return Resolved("v" + name, "view", relation(columns), query)


def maintained(sql: str) -> MaintainedQuery:
    """The query cut into blocks."""
    return compile_view(sqlglot.parse_one(sql, read="postgres"), Names())


def a_row(chance: random.Random, item: str) -> Row:
    """A row of few values, so that rows meet, repeat and are null."""
    small = [None, 0, 1, 2, 3]
    if item == "u1":
        price = chance.choice([None, Decimal("0.10"), Decimal("1.25"), Decimal("-3.00")])
        weight = chance.choice([None, 0.5, -0.25, 2.0])
        text = chance.choice([None, "", "x", "yy"])
        return (chance.choice(small), chance.choice(small), text, price, weight)
    if item == "u2":
        return (chance.choice(small), chance.choice(small), chance.choice([None, "x", "z"]))
    return (chance.randrange(12), chance.choice(small), chance.choice(small))


def some_rows(chance: random.Random, item: str, count: int) -> Rows:
    """Rows with duplicates; of `u3` each key comes once."""
    rows = Rows(a_row(chance, item) for _ in range(count))
    return only_keys(rows) if item == "u3" else rows


def only_keys(rows: Rows) -> Rows:
    """One row for each first column."""
    return Rows({row[0]: row for row in rows}.values())


def step(chance: random.Random, item: str, rows: Rows) -> Rows:
    """The table after some deletes, updates and inserts; now and then emptied."""
    if chance.random() < 0.1:
        return Rows()
    kept = Rows(row for row in rows.elements() if chance.random() > 0.25)
    made = kept + Rows(a_row(chance, item) for _ in range(chance.randrange(5)))
    return only_keys(made) if item == "u3" else made


def moved(chance: random.Random, old: Rows, new: Rows, noise: list[Row]) -> list[Row]:
    """The changes from old to new with how many times, sometimes with some that cancel out."""
    found: list[Row] = []
    for row in {**old, **new}:
        if count := new[row] - old[row]:
            found.append((*row, count))
    for row in noise:
        if chance.random() < 0.2:
            found += [(*row, 2), (*row, -1), (*row, -1)]
    chance.shuffle(found)
    return found


def _shapes() -> dict[str, str]:
    text = Path(__file__).with_name("shapes.sql").read_text(encoding="utf-8")
    return dict(line.split("|", 1) for line in text.splitlines())


SHAPES = _shapes()
