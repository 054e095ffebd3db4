"""Transactions and session variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TransactionControl:
    """`BEGIN`, `COMMIT` or `ROLLBACK`."""

    action: Literal["begin", "commit", "rollback"]


@dataclass(frozen=True)
class SetVariable:
    """`SET [SESSION | LOCAL] name {= | TO} value`; no value means DEFAULT."""

    name: str
    value: str | None


@dataclass(frozen=True)
class AlterSystem:
    """`ALTER SYSTEM {SET name = value | RESET name}`: a region's feature flag."""

    name: str
    value: str | None
