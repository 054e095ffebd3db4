"""The small shop that queries are compared on: its relations, and names over them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import sqlglot
from sqlglot import exp

from catalog.query.binder import Moment
from catalog.query.compile import Compiled, compile_query
from catalog.query.names import Resolved
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

HERE = Path(__file__).parent
MOMENT = Moment(1_700_000_000_000, dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC))


def relation(**columns: str) -> Relation:
    """Columns by name and type."""
    return Relation(tuple(Column(n, Type.parse(t)) for n, t in columns.items()))


SHOPPER = relation(id="int", name="text", region="text", **{"Full Name": "text"})
PURCHASE = relation(
    id="int",
    shopper_id="int",
    price="numeric(10,2)",
    units="int",
    state="text",
    at="timestamp",
    atz="timestamptz",
    day="date",
    doc="jsonb",
    labels="text[]",
    note="text",
    loose="numeric",
    weight="double precision",
    big="bigint",
)
BUYER = (
    "SELECT s.id, s.name, count(p.id) AS n FROM shopper s"
    " LEFT JOIN purchase p ON p.shopper_id = s.id GROUP BY s.id, s.name"
)


def parse(sql: str) -> exp.Expr:
    """A query's tree."""
    return sqlglot.parse_one(sql, read="postgres")


def view(sql: str) -> exp.Query:
    """A view's query."""
    tree = parse(sql)
    assert isinstance(tree, exp.Query)
    return tree


class Shop:
    """Names over the shop's tables and views."""

    def __init__(self) -> None:
        names = relation(id="int", name="text", n="bigint")
        items = [
            ("shopper", Resolved("u1", "table", SHOPPER)),
            ("purchase", Resolved("u2", "table", PURCHASE)),
            ("buyer", Resolved("u3", "view", names, view(BUYER))),
            ("busy", Resolved("u4", "view", names, view("SELECT * FROM buyer WHERE n > 0"))),
            ("mz_tables", Resolved("mz_catalog.mz_tables", "system", relation(id="text"))),
        ]
        self.items = dict(items)

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """Only unqualified names and `shop.public.x`."""
        if len(parts) > 1 and parts[:-1] not in (("public",), ("shop", "public")):
            return None
        return self.items.get(parts[-1])


def compiled(sql: str) -> Compiled:
    """The query for Spark."""
    return compile_query(parse(sql), Shop(), MOMENT)


def lines(name: str, fields: int) -> list[list[str]]:
    """A case file's lines, split at `|`."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line.split("|", fields - 1) for line in text.splitlines() if line]
