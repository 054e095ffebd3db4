"""Setting the product up for a measurement, through its front door."""

from __future__ import annotations

import time
from collections.abc import Sequence

import psutil
from psycopg.conninfo import conninfo_to_dict

from catalog.sql import render
from catalog.sql.nodes.connection import CreateConnection
from catalog.sql.nodes.item import Drop
from catalog.sql.nodes.names import ItemKind, Name, Option, SecretReference
from catalog.sql.nodes.secret import CreateSecret
from catalog.sql.nodes.session import TransactionControl
from catalog.sql.nodes.source import CreateSource
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.table import CreateTableFromSource
from tests.services.product import Product

_STILL = 2
_STATES = "SELECT name, status FROM mz_internal.mz_source_statuses"


def run(product: Product, *statements: Statement) -> None:
    """Run statements as one text; raises at the first error."""
    product.sql("; ".join(render(statement) for statement in statements))


def connect(product: Product, name: str, dsn: str) -> None:
    """Create a secret and a connection to the database."""
    facts = {key: str(value) for key, value in conninfo_to_dict(dsn).items()}
    secret = Name((f"{name}_password",))
    run(product, CreateSecret(secret, facts["password"]))
    options = (
        Option("HOST", facts["host"]),
        Option("PORT", facts["port"]),
        Option("DATABASE", facts["dbname"]),
        Option("USER", facts["user"]),
        Option("PASSWORD", SecretReference(secret)),
    )
    run(product, CreateConnection(Name((name,)), "postgres", options))


def source(product: Product, name: str, connection: str, publication: str) -> None:
    """Create a source."""
    options = (Option("PUBLICATION", publication),)
    run(product, CreateSource(Name((name,)), "postgres", options, Name((connection,))))


def tables(product: Product, source_name: str, names: dict[str, str]) -> None:
    """Create tables (here -> upstream, in schema public) in one transaction."""
    run(
        product,
        TransactionControl("begin"),
        *(
            CreateTableFromSource(Name((here,)), Name((source_name,)), Name(("public", there)))
            for here, there in names.items()
        ),
        TransactionControl("commit"),
    )


def drop(product: Product, kind: ItemKind, name: str) -> None:
    """Drop an item with everything on it."""
    run(product, Drop(kind, (Name((name,)),), cascade=True))


def states(product: Product) -> dict[str, str]:
    """Every source's and table's status."""
    return {str(name): str(status) for name, status in product.sql(_STATES)}


def wait_running(product: Product, names: Sequence[str], timeout: float = 300) -> float:
    """Wait until every table says `running`; seconds. Raises TimeoutError with the states."""
    began = time.monotonic()
    while True:
        found = states(product)
        if all(found.get(name) == "running" for name in names):
            return time.monotonic() - began
        if time.monotonic() - began > timeout:
            message = f"not running after {timeout} s: {found}"
            raise TimeoutError(message)
        time.sleep(0.05)


def quiet(product: Product, seconds: float = 3.0, timeout: float = 300) -> None:
    """Wait until the product's processes take less than a third of a core for so many seconds,
    twice on end: folds and the like, of what came before, are over, and those that are due then
    have had the time to begin. Raises TimeoutError."""
    until = time.monotonic() + timeout
    before, still = _processor_time(product), 0
    while time.monotonic() < until:
        time.sleep(seconds)
        now = _processor_time(product)
        still = still + 1 if now - before < seconds / 3 else 0
        if still == _STILL:
            return
        before = now
    message = f"not quiet after {timeout} s"
    raise TimeoutError(message)


def _processor_time(product: Product) -> float:
    """Seconds that the product's live processes have taken."""
    if product.supervisor is None:
        return 0.0
    top = psutil.Process(product.supervisor.pid)
    found = 0.0
    for each in (top, *top.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found += times.user + times.system
    return found
