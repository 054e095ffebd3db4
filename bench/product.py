"""Setting the product up for a measurement, through its front door."""

from __future__ import annotations

import time

from psycopg.conninfo import conninfo_to_dict

from tests.services.product import Product


def literal(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def connect(product: Product, name: str, dsn: str) -> None:
    """Create a secret and a connection to the database."""
    facts = conninfo_to_dict(dsn)
    product.sql(f"CREATE SECRET {name}_password AS {literal(str(facts['password']))}")
    product.sql(
        f"CREATE CONNECTION {name} TO POSTGRES (HOST {literal(str(facts['host']))},"
        f" PORT {facts['port']}, DATABASE {literal(str(facts['dbname']))},"
        f" USER {literal(str(facts['user']))}, PASSWORD SECRET {name}_password)"
    )


def source(product: Product, name: str, connection: str, publication: str) -> None:
    """Create a source."""
    product.sql(
        f"CREATE SOURCE {name} FROM POSTGRES CONNECTION {connection}"
        f" (PUBLICATION {literal(publication)})"
    )


def tables(product: Product, source_name: str, names: dict[str, str]) -> None:
    """Create tables (here -> upstream) in one transaction."""
    statements = [
        f"CREATE TABLE {here} FROM SOURCE {source_name} (REFERENCE public.{there});"
        for here, there in names.items()
    ]
    product.sql("BEGIN; " + " ".join(statements) + " COMMIT;")


def wait_running(product: Product, names: list[str], timeout: float = 300) -> float:
    """Wait until every table says `running`; seconds it took. Raises TimeoutError with the states."""
    began = time.monotonic()
    while True:
        states = {
            str(name): str(status)
            for name, status in product.sql("SELECT name, status FROM mz_internal.mz_source_statuses")
        }
        if all(states.get(name) == "running" for name in names):
            return time.monotonic() - began
        if time.monotonic() - began > timeout:
            message = f"not running after {timeout} s: {states}"
            raise TimeoutError(message)
        time.sleep(0.05)
