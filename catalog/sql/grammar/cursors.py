"""DECLARE, FETCH, CLOSE."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.options import options
from catalog.sql.grammar.query import select
from catalog.sql.grammar.subscribe import subscribe
from catalog.sql.nodes.cursors import Close, Declare, Fetch

_MANY = 2**63


def declare(cursor: Cursor) -> Declare:
    """After `DECLARE`."""
    name = cursor.identifier()
    cursor.accept("NO", "SCROLL")
    cursor.expect("CURSOR")
    if cursor.peek("WITH", "HOLD"):
        cursor.not_supported("WITH HOLD is not supported for cursors")
    cursor.accept("WITHOUT", "HOLD")
    cursor.expect("FOR")
    if cursor.accept_one_of("SUBSCRIBE", "TAIL"):
        return Declare(name, subscribe(cursor))
    return Declare(name, select(cursor))


def fetch(cursor: Cursor) -> Fetch:
    """After `FETCH`."""
    forward = cursor.accept_one_of("FORWARD", "NEXT")
    count: int | None = 1
    if forward != "NEXT" and cursor.accept("ALL"):
        count = None
    elif forward != "NEXT" and cursor.token.kind == "number":
        count = _count(cursor)
    cursor.accept_one_of("FROM", "IN")
    name = cursor.identifier()
    timeout = ""
    if cursor.accept("WITH"):
        for option in options(cursor, {"TIMEOUT": "text"}):
            timeout = str(option.value)
    return Fetch(name, count, timeout)


def _count(cursor: Cursor) -> int:
    text = cursor.token.text
    if not text.isdigit() or int(text) >= _MANY:
        cursor.expected("literal unsigned integer")
    cursor.index += 1
    return int(text)


def close(cursor: Cursor) -> Close:
    """After `CLOSE`."""
    return Close() if cursor.accept("ALL") else Close(cursor.identifier())
