"""How an upstream system describes itself: targets, checks and references.

Seed 000: "a SQL statement or catalog table to return all known upstream tables for a given
source".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ingest.contract.types import Type

Level = Literal["ok", "warning", "error"]
ReplicaIdentity = Literal["default", "full", "index", "nothing"]


class Secret(str):
    """Text that must never be shown: its repr hides it, so a dataclass or a log line does too."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<redacted>"


@dataclass(frozen=True)
class PostgresTarget:
    """Where one PostgreSQL database is and how to enter it.

    `address` is the IP address that `host` was resolved to and checked against the host policy:
    connect there (libpq's hostaddr); empty means resolve `host`.
    """

    host: str
    port: int
    database: str
    user: str
    password: Secret | None = None
    ssl_mode: str = "prefer"
    ssl_root_certificate: str | None = None
    ssl_certificate: str | None = None
    ssl_key: Secret | None = None
    address: str = ""

    @property
    def identity(self) -> str:
        """What makes two connections the same upstream."""
        return f"postgres://{self.host.lower()}:{self.port}/{self.database}"


@dataclass(frozen=True)
class Check:
    """One item of a validation: what was looked at, and what to do if it failed.

    `upstream_sql` is a statement for the user to run upstream, or empty.
    `sqlstate` is the failure's own code, where upstream gave one.
    """

    name: str
    level: Level
    summary: str
    cause: str = ""
    fix: str = ""
    upstream_sql: str = ""
    sqlstate: str = ""


@dataclass(frozen=True)
class UpstreamColumn:
    """One column upstream. `position` is stable for the column's life (PostgreSQL's attnum).

    `native` is the type it has here by default, None when only TEXT or exclusion is possible;
    `text_by_default` says that the faithful form is text, so nobody needs to be asked.
    """

    name: str
    position: int
    type_name: str
    type_oid: int
    type_modifier: int
    nullable: bool
    native: Type | None
    text_by_default: bool = False


@dataclass(frozen=True)
class Reference:
    """One upstream table, topic or generator output that a table can be made from.

    `identity` is the upstream's own id of the relation (PostgreSQL's oid; 0 when it has none).
    `rows` and `bytes` are the upstream's estimates, -1 when unknown.
    """

    namespace: str
    name: str
    identity: int
    columns: tuple[UpstreamColumn, ...]
    key: tuple[str, ...] = ()
    replica_identity: ReplicaIdentity = "default"
    rows: int = -1
    bytes: int = -1
    problems: tuple[Check, ...] = field(default=())


@dataclass(frozen=True)
class Publication:
    """A publication upstream; `tables` is how many tables it publishes now."""

    name: str
    all_tables: bool
    tables: int
