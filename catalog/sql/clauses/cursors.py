"""DECLARE, FETCH, CLOSE."""

from __future__ import annotations

from catalog.sql.clauses.rows import select
from catalog.sql.clauses.style import Style, when, words
from catalog.sql.clauses.subscribe import subscribe
from catalog.sql.layout import Clause
from catalog.sql.nodes.cursors import Close, Declare, Fetch
from catalog.sql.nodes.subscribe import Subscribe
from catalog.sql.strings import identifier, literal


def declare(s: Declare, style: Style) -> list[Clause]:
    """Clauses of Declare."""
    of = s.statement
    rest = subscribe(of, style) if isinstance(of, Subscribe) else select(of, style)
    return [words("DECLARE", identifier(s.name), "CURSOR FOR"), *rest]


def fetch(s: Fetch, style: Style) -> list[Clause]:
    """Clauses of Fetch."""
    count = "ALL" if s.count is None else str(s.count)
    timeout = f"WITH (TIMEOUT{style.equals}{literal(s.timeout)})"
    return [words("FETCH", count, identifier(s.name)), when(s.timeout, timeout)]


def close(s: Close, _: Style) -> list[Clause]:
    """Clauses of Close."""
    return [words("CLOSE", identifier(s.name) if s.name else "ALL")]
