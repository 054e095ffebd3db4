"""The shop: four tables with keys, a user that may replicate them, and their publication."""

from __future__ import annotations

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from console.demo import DATABASE, PUBLICATION, TABLES, USER

_SCHEMA = """
create table customers (
    id bigint generated always as identity primary key,
    name text not null,
    email varchar(200) not null unique,
    country char(2) not null,
    created_at timestamptz not null default now()
);
create table products (
    id integer generated always as identity primary key,
    name text not null,
    price numeric(10, 2) not null,
    stock integer not null,
    attributes jsonb not null default '{}'
);
create table orders (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customers,
    status text not null,
    note text,
    placed_at timestamptz not null default now()
);
create table order_items (
    order_id bigint not null references orders on delete cascade,
    line smallint not null,
    product_id integer not null references products,
    quantity integer not null,
    price numeric(10, 2) not null,
    primary key (order_id, line)
);
insert into customers (name, email, country, created_at)
select first || ' ' || last, lower(first || '.' || last || n) || '@shop.example',
    (array['DE', 'FR', 'GB', 'NL', 'PL', 'SE'])[1 + n % 6], now() - n * interval '7 hours'
from generate_series(1, 200) n,
    lateral (select (array['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gia'])[1 + n % 7] first,
        (array['Berg', 'Cole', 'Duval', 'Ek', 'Fox', 'Gray', 'Hahn', 'Ives'])[1 + n % 8] last) x;
insert into products (name, price, stock, attributes)
select (array['Oak', 'Steel', 'Linen', 'Cork'])[1 + n % 4] || ' '
    || (array['lamp', 'chair', 'desk', 'shelf', 'tray', 'clock'])[1 + n % 6] || ' ' || n,
    (500 + (n * 7919) % 20000) / 100.0, 500,
    jsonb_build_object('weight_g', 100 + n * 37, 'colours', array['sand', 'slate'])
from generate_series(1, 60) n;
insert into orders (customer_id, status, placed_at)
select 1 + (n * 31) % 200, (array['paid', 'shipped', 'delivered'])[1 + n % 3],
    now() - (500 - n) * interval '20 minutes'
from generate_series(1, 500) n;
insert into order_items
select o.id, line, p.id, 1 + (o.id + line) % 4, p.price
from orders o, generate_series(1, 3) line, products p
where p.id = 1 + (o.id * 13 + line * 17) % 60;
"""


def ensure(admin: str, password: str) -> str:
    """Make the shop when it is missing; returns the writer's connection string."""
    with psycopg.connect(admin, autocommit=True) as connection:
        _ensure_user(connection, password)
        known = connection.execute("select 1 from pg_database where datname = %s", (DATABASE,))
        if known.fetchone() is None:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    shop = make_conninfo(admin, dbname=DATABASE)
    with psycopg.connect(shop) as connection:
        if connection.execute("select to_regclass('order_items')").fetchone() == (None,):
            connection.execute(_SCHEMA)
            _publish(connection)
    return shop


def _ensure_user(connection: psycopg.Connection, password: str) -> None:
    if connection.execute("select 1 from pg_roles where rolname = %s", (USER,)).fetchone():
        return
    connection.execute(
        sql.SQL("create role {} login replication password {}").format(
            sql.Identifier(USER), sql.Literal(password)
        )
    )


def _publish(connection: psycopg.Connection) -> None:
    names = sql.SQL(", ").join(sql.Identifier(table) for table in TABLES)
    user = sql.Identifier(USER)
    connection.execute(sql.SQL("grant select on {} to {}").format(names, user))
    connection.execute(
        sql.SQL("create publication {} for table {}").format(sql.Identifier(PUBLICATION), names)
    )
    connection.execute("analyze")
