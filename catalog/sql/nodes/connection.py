"""CREATE CONNECTION, VALIDATE CONNECTION."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.names import Name, Option


@dataclass(frozen=True)
class CreateConnection:
    """`CREATE CONNECTION [IF NOT EXISTS] name TO POSTGRES (..) [WITH (VALIDATE = bool)]`."""

    name: Name
    kind: str
    options: tuple[Option, ...]
    if_not_exists: bool = False
    validate: bool | None = None


@dataclass(frozen=True)
class ValidateConnection:
    """`VALIDATE CONNECTION name`."""

    name: Name
