"""CREATE MATERIALIZED VIEW."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from catalog.sql.nodes.names import Name, Option


@dataclass(frozen=True)
class Refresh:
    """`REFRESH ON COMMIT | AT CREATION | AT 'time' | EVERY 'interval' [ALIGNED TO 'time']`."""

    kind: Literal["on commit", "at creation", "at", "every"]
    value: str = ""
    aligned_to: str = ""


@dataclass(frozen=True)
class CreateMaterializedView:
    """`CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] name [(c, ..)] .. AS query`.

    `text`, `query` and `body` are as in `CreateView`.
    """

    name: Name
    query: exp.Query = field(compare=False, hash=False)
    text: str = field(default="", compare=False)
    columns: tuple[str, ...] = ()
    cluster: Name | None = None
    refresh: tuple[Refresh, ...] = ()
    options: tuple[Option, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False
    body: str = ""
