"""CREATE VIEW."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from catalog.sql.nodes.names import Name


@dataclass(frozen=True)
class CreateView:
    """`CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(c, ..)] AS query`.

    `text` is the query exactly as the user wrote it; `query` its tree; `body` the canonical text,
    which decides whether two nodes are equal. Whoever replaces `query` sets `text` to "": then
    the tree is rendered.
    """

    name: Name
    query: exp.Query = field(compare=False, hash=False)
    text: str = field(default="", compare=False)
    columns: tuple[str, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False
    body: str = ""
