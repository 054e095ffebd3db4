"""Customers who never sleep: small transactions, a few a second."""

from __future__ import annotations

import random
from collections.abc import Callable

import psycopg

_KEPT_ORDERS = 20_000


def work(shop: str, wait: Callable[[float], bool], per_second: float = 4.0) -> None:
    """Write until `wait` (seconds) says True; raises psycopg.Error when the server goes away."""
    chance = random.Random()  # noqa: S311 (a shop, not a cipher)
    with psycopg.connect(shop, autocommit=True) as connection:
        while not wait(chance.expovariate(per_second)):
            act = chance.choices((_order, _advance, _reprice, _cancel), (5, 4, 1, 1))[0]
            with connection.transaction():
                act(connection, chance)


def _order(connection: psycopg.Connection, chance: random.Random) -> None:
    """A customer buys one to four products: the order, its lines and the stock, together."""
    row = connection.execute(
        "insert into orders (customer_id, status) values (%s, 'placed') returning id",
        (chance.randint(1, 200),),
    ).fetchone()
    if row is None:
        return
    products = chance.sample(range(1, 61), chance.randint(1, 4))
    for line, product in enumerate(sorted(products), start=1):
        quantity = chance.randint(1, 4)
        connection.execute(
            "insert into order_items select %s, %s, id, %s, price from products where id = %s",
            (row[0], line, quantity, product),
        )
        connection.execute(
            "update products set stock = case when stock < %s then 500 else stock - %s end"
            " where id = %s",
            (quantity, quantity, product),
        )


def _advance(connection: psycopg.Connection, chance: random.Random) -> None:
    """Some open order moves on."""
    connection.execute(
        "update orders set status = case status when 'placed' then 'paid'"
        " when 'paid' then 'shipped' else 'delivered' end"
        " where id = (select id from orders where status not in ('delivered', 'cancelled')"
        " order by id offset %s limit 1)",
        (chance.randint(0, 20),),
    )


def _reprice(connection: psycopg.Connection, chance: random.Random) -> None:
    connection.execute(
        "update products set price = greatest(1, round(price * %s::numeric, 2)) where id = %s",
        (str(round(chance.uniform(0.95, 1.06), 3)), chance.randint(1, 60)),
    )


def _cancel(connection: psycopg.Connection, chance: random.Random) -> None:
    """An order is withdrawn, and the oldest make room once there are many."""
    connection.execute(
        "update orders set status = 'cancelled', note = 'changed my mind' where id ="
        " (select max(id) from orders where status = 'placed')"
    )
    connection.execute(
        "delete from orders where id in (select id from orders order by id limit"
        " least(5, greatest(0, (select count(*) from orders) - %s)))",
        (_KEPT_ORDERS,),
    )
