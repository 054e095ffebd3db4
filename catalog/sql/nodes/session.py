"""Transactions, savepoints and session variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TransactionControl:
    """`BEGIN`, `COMMIT` or `ROLLBACK`; BEGIN may name an isolation level and an access mode."""

    action: Literal["begin", "commit", "rollback"]
    isolation: str | None = None
    read_only: bool | None = None


@dataclass(frozen=True)
class Savepoint:
    """`SAVEPOINT name`, `RELEASE [SAVEPOINT] name` or `ROLLBACK TO [SAVEPOINT] name`."""

    action: Literal["savepoint", "release", "rollback to"]
    name: str


@dataclass(frozen=True)
class SetVariable:
    """`SET [SESSION | LOCAL] name {= | TO} value`; no value means DEFAULT.

    `RESET name` is `SET name = DEFAULT`; `RESET ALL` has the name `all`. Several values are
    joined with commas, quoted as names where needed.
    """

    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True)
class Discard:
    """`DISCARD ALL | TEMP`."""

    target: Literal["all", "temp"]


@dataclass(frozen=True)
class AlterSystem:
    """`ALTER SYSTEM {SET name = value | RESET name}`: a region's feature flag."""

    name: str
    value: str | None
