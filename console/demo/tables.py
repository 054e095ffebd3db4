"""The demo without a click: a user, two sources, their tables, and the wait until all are live."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import sql

from catalog.accounts import create_token, create_user, user_by_email
from console.demo import TABLES, DemoStatus, demo_status
from console.execute import run
from ingest.errors import HeadraceError

if TYPE_CHECKING:
    from catalog.models import User

EMAIL = "demo@headrace.example"
AUCTION_TABLES = ("organizations", "users", "accounts", "auctions", "bids")
_PATIENCE = 600.0
_EVERY = 10.0
_UPSTREAM = sql.SQL(
    """
create secret if not exists shop_password as {password};
create connection if not exists shop_postgres to postgres (
    host {host}, port {port}, database {database}, user {user}, password secret shop_password);
create source if not exists shop
    from postgres connection shop_postgres (publication {publication});
create source if not exists auction_house from load generator auction (tick interval '1s')
"""
)
_TABLE = sql.SQL("create table if not exists {} from source {} (reference {})")


@dataclass(frozen=True)
class Login:
    """How a client signs in as the demo's owner."""

    email: str
    password: str


class Wait:
    """Patience with an end, and a sign of life every ten seconds."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._began = self._told = time.monotonic()

    def for_(self, awaited: str) -> None:
        """Wait a moment longer; raises HeadraceError when it has been too long."""
        now = time.monotonic()
        if now - self._began > _PATIENCE:
            message = f"still waiting after {_PATIENCE:.0f} s: {awaited}"
            raise HeadraceError(message)
        if now - self._told > _EVERY:
            self._told = now
            self._tell(f"  demo  {now - self._began:.0f} s  {awaited}")
        time.sleep(0.5)


def make(tell: Callable[[str], None]) -> Login:
    """Make what is missing of the demo and wait until every table can be read, telling what for.

    Raises HeadraceError: a statement's own, or one that says what is not ready in time.
    """
    wait = Wait(tell)
    user = user_by_email(EMAIL) or create_user(EMAIL, secrets.token_urlsafe(24), owner=True)
    login = Login(EMAIL, create_token(user, "demo").app_password)
    facts = _await_upstream(wait)
    execute(
        user,
        _UPSTREAM.format(
            password=facts.password,
            host=facts.host,
            port=facts.port,
            database=facts.database,
            user=facts.user,
            publication=facts.publication,
        ),
    )
    execute(user, _tables("shop", "public", TABLES))
    execute(user, _tables("auction_house", "auction", AUCTION_TABLES))
    for table in (*TABLES, *AUCTION_TABLES):
        _await_table(user, table, wait)
    return login


def execute(user: User, statements: sql.Composable) -> None:
    """Run statements as that user; raises the first failure."""
    for outcome in run(user, statements.as_string(None)):
        if isinstance(outcome, HeadraceError):
            raise outcome


def _tables(source: str, namespace: str, names: tuple[str, ...]) -> sql.Composable:
    """One transaction, so that all of them begin with one moment of their upstream."""
    creates = [
        _TABLE.format(
            sql.Identifier(name), sql.Identifier(source), sql.Identifier(namespace, name)
        )
        for name in names
    ]
    return sql.SQL("; ").join([sql.SQL("begin"), *creates, sql.SQL("commit")])


def _await_upstream(wait: Wait) -> DemoStatus:
    while True:
        facts = demo_status()
        if facts.state == "running":
            return facts
        if facts.state == "failed":
            raise HeadraceError("the demo's PostgreSQL does not run", detail=facts.message)
        wait.for_("the demo's PostgreSQL")


def _await_table(user: User, name: str, wait: Wait) -> None:
    """Until a SELECT of it works: that is what live means."""
    probe = sql.SQL("select 1 from {} limit 1").format(sql.Identifier(name))
    while True:
        try:
            execute(user, probe)
        except HeadraceError as error:
            wait.for_(error.message)
        else:
            return
