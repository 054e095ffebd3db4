"""SELECT, and EXPLAIN TIMESTAMP."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(frozen=True)
class Select:
    """A query, optionally `AS OF [AT LEAST] timestamp`; `text` is the body as written."""

    query: exp.Query = field(compare=False, hash=False)
    text: str = ""
    as_of: exp.Expression | None = field(default=None, compare=False, hash=False)
    at_least: bool = False


@dataclass(frozen=True)
class ExplainTimestamp:
    """`EXPLAIN TIMESTAMP FOR query`."""

    select: Select
