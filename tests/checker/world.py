"""What changes under the views: a table written here, and two that follow a PostgreSQL."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import psycopg

from bench import product as setting_up
from tests.services.postgres import Postgres
from tests.services.product import Product

SCHEMA = """
    create table orders (id int primary key, customer int, amount numeric(12,2), state text);
    create table customers (id int primary key, region text);
    insert into customers select g, 'r' || g % 4 from generate_series(1, 40) g;
    insert into orders select g, 1 + g % 45, g % 97 / 3.0, (array['new','paid',null])[1 + g % 3]
        from generate_series(1, 400) g;
    create publication checked for table orders, customers
"""
ORDERS = (
    "insert into orders select coalesce(max(id), 0) + 1, %s, %s, 'new' from orders",
    "update orders set amount = amount + %s, customer = %s where id %% 11 = 3",
    "update orders set state = 'paid' where customer = %s and amount > %s",
    "delete from orders where customer = %s and amount < %s",
)
PLAIN = (
    "INSERT INTO notes VALUES (1, 'a', 2), (1, 'a', 2), (NULL, 'b', NULL)",
    "INSERT INTO notes SELECT customer, state, id FROM orders WHERE customer = 7",
    "UPDATE notes SET v = v + 1 WHERE k = 1",
    "UPDATE notes SET word = 'c' WHERE v IS NULL",
    "DELETE FROM notes WHERE v > 5",
    "DELETE FROM notes WHERE word = 'c'",
)


@dataclass
class World:
    """The tables `orders`, `customers` and `notes`, all of which change."""

    server: Postgres
    product: Product
    pick: random.Random
    dsn: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def make(self) -> None:
        """Make the tables upstream and here, and wait until they can be read."""
        self.dsn = self.server.create_database("checked")
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for statement in SCHEMA.split(";"):
                connection.execute(statement.encode())
        setting_up.connect(self.product, "checked", self.dsn)
        setting_up.source(self.product, "checked_source", "checked", "checked")
        names = {"orders": "orders", "customers": "customers"}
        setting_up.tables(self.product, "checked_source", names)
        self.product.sql("CREATE TABLE notes (k int, word text, v int)")
        setting_up.wait_running(self.product, list(names))

    def start(self, pause: float) -> None:
        """Let upstream change in transactions, some `pause` seconds apart, until `stop`."""
        self._thread = threading.Thread(target=self._write, args=(pause,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let upstream rest."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def write_here(self) -> None:
        """One statement on the table that is ours."""
        self.product.sql(self.pick.choice(PLAIN))

    def _write(self, pause: float) -> None:
        pick = random.Random(self.pick.random())
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            while not self._stop.is_set():
                with connection.transaction():
                    for _ in range(pick.randrange(1, 4)):
                        numbers = (pick.randrange(1, 50), pick.randrange(1, 30))
                        connection.execute(pick.choice(ORDERS).encode(), numbers)
                    if pick.random() < 0.1:
                        region = (f"r{pick.randrange(4)}", pick.randrange(1, 40))
                        connection.execute(
                            "update customers set region = %s where id = %s", region
                        )
                time.sleep(pick.uniform(0, 2 * pause))
