"""SELECT, and EXPLAIN TIMESTAMP."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(frozen=True)
class Select:
    """A query, optionally `AS OF [AT LEAST] timestamp`.

    `text` is the body as written; `body` and `as_of_text` are the canonical texts, which decide
    whether two nodes are equal.
    """

    query: exp.Query = field(compare=False, hash=False)
    text: str = field(default="", compare=False)
    as_of: exp.Expression | None = field(default=None, compare=False, hash=False)
    at_least: bool = False
    body: str = ""
    as_of_text: str = ""


@dataclass(frozen=True)
class ExplainTimestamp:
    """`EXPLAIN TIMESTAMP FOR query`."""

    select: Select
