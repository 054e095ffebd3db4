"""SELECT, EXPLAIN TIMESTAMP."""

from __future__ import annotations

from catalog.sql.body import take_expression, take_query
from catalog.sql.cursor import Cursor
from catalog.sql.nodes.query import ExplainTimestamp, Select


def select(cursor: Cursor) -> Select:
    """A whole query, from its first word, with `AS OF [AT LEAST] timestamp`."""
    body = take_query(cursor, ("AS", "OF"))
    if not cursor.accept("AS", "OF"):
        return Select(body.query, body.text, body=body.canonical)
    at_least = cursor.accept("AT", "LEAST")
    as_of = take_expression(cursor)
    return Select(
        body.query,
        body.text,
        as_of.tree,
        at_least,
        body=body.canonical,
        as_of_text=as_of.canonical,
    )


def explain(cursor: Cursor) -> ExplainTimestamp:
    """After `EXPLAIN`."""
    if not cursor.accept("TIMESTAMP"):
        cursor.not_supported(
            "EXPLAIN statements other than EXPLAIN TIMESTAMP are not supported yet",
            cursor.tokens[0].start,
        )
    cursor.expect("FOR")
    return ExplainTimestamp(select(cursor))
