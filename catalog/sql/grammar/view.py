"""CREATE VIEW."""

from __future__ import annotations

from catalog.sql.body import take_query
from catalog.sql.cursor import Cursor
from catalog.sql.nodes.view import CreateView


def create_view(cursor: Cursor) -> CreateView:
    """After `CREATE VIEW`."""
    return _view(cursor, or_replace=False)


def create_or_replace_view(cursor: Cursor) -> CreateView:
    """After `CREATE OR REPLACE VIEW`."""
    return _view(cursor, or_replace=True)


def _view(cursor: Cursor, *, or_replace: bool) -> CreateView:
    if_not_exists = not or_replace and cursor.if_not_exists()
    name = cursor.name()
    columns = cursor.parenthesized(cursor.identifier) if cursor.peek("(") else ()
    cursor.expect("AS")
    body = take_query(cursor, ("AS", "OF"))
    return CreateView(
        name, body.query, body.text, columns, or_replace, if_not_exists, body.canonical
    )
