"""DECLARE, FETCH, CLOSE."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.query import Select
from catalog.sql.nodes.subscribe import Subscribe


@dataclass(frozen=True)
class Declare:
    """`DECLARE name CURSOR FOR ..`: rows to be fetched until the transaction ends."""

    name: str
    statement: Select | Subscribe


@dataclass(frozen=True)
class Fetch:
    """`FETCH count name`; no count is all there are. `timeout` is how long to wait for more."""

    name: str
    count: int | None = 1
    timeout: str = ""


@dataclass(frozen=True)
class Close:
    """`CLOSE name`, or all (empty name)."""

    name: str = ""
