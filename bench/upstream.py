"""The upstream that is measured against: one wide table in two sizes, and small ones to change."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

COLUMNS = (
    "id bigint primary key, customer_id int not null, amount numeric(12,2) not null,"
    " score double precision, status varchar(16) not null, note text,"
    " created_at timestamptz not null, active boolean not null"
)
_ROWS = (
    "select g, (random()*100000)::int, round((random()*10000)::numeric, 2), random()*1e6,"
    " (array['new','paid','shipped','returned','void'])[1+(g%%5)],"
    " case when g%%10=0 then null else md5(g::text)||md5((g*7)::text) end,"
    " timestamptz '2024-01-01' + (g||' seconds')::interval, g%%3=0"
    " from generate_series(1, %s::bigint) g"
)


@dataclass(frozen=True)
class Truth:
    """What a faithful copy of a table must add up to."""

    rows: int
    ids: int
    cents: int
    notes: int


def make_wide(dsn: str, table: str, rows: int) -> Truth:
    """Create and fill the eight-column table, analysed."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        name = sql.Identifier(table)
        connection.execute("select setseed(0.5)")
        connection.execute(sql.SQL("drop table if exists {}").format(name))
        connection.execute(sql.SQL("create table {} (").format(name) + sql.SQL(COLUMNS + ")"))
        connection.execute(sql.SQL("insert into {} ").format(name) + sql.SQL(_ROWS), (rows,))
        connection.execute(sql.SQL("vacuum (analyze, freeze) {}").format(name))
        connection.execute("checkpoint")
    return truth(dsn, table)


def truth(dsn: str, table: str) -> Truth:
    """The sums of a table as it is now."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            sql.SQL("select count(*), sum(id), sum(amount)*100, count(note) from {}").format(
                sql.Identifier(table)
            )
        ).fetchone()
    assert row is not None
    return Truth(*(int(value or 0) for value in row))


def make_small(dsn: str, tables: int, publication: str) -> None:
    """Create `tables` six-column tables t0.. of 1,000 rows and publish them."""
    names = [sql.Identifier(f"t{i}") for i in range(tables)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in names:
            connection.execute(
                sql.SQL(
                    "create table {} (id bigint primary key, cust int, amt numeric(12,2),"
                    " name text, at timestamptz, flag bool)"
                ).format(name)
            )
            connection.execute(
                sql.SQL(
                    "insert into {} select g, g%10, g, 'n'||g, now(), true"
                    " from generate_series(1,1000) g"
                ).format(name)
            )
        connection.execute(
            sql.SQL("create publication {} for table {}").format(
                sql.Identifier(publication), sql.SQL(", ").join(names)
            )
        )
