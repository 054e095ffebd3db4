"""INSERT, UPDATE, DELETE."""

from __future__ import annotations

from sqlglot import exp

from catalog.sql.body import take_expression, take_query
from catalog.sql.cursor import Cursor
from catalog.sql.nodes.table import Delete, Insert, Update
from catalog.sql.spacing import canonical

_QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE", "(")


def insert(cursor: Cursor) -> Insert:
    """After `INSERT`."""
    cursor.expect("INTO")
    name = cursor.name()
    columns: tuple[str, ...] = ()
    if cursor.peek("(") and cursor.tokens[cursor.index + 1].key not in _QUERY_STARTS:
        columns = cursor.parenthesized(cursor.identifier)
    if cursor.peek("DEFAULT", "VALUES"):
        cursor.not_supported("INSERT .. DEFAULT VALUES is not supported")
    body = take_query(cursor, ("RETURNING",), ("ON", "CONFLICT"))
    if cursor.peek("ON", "CONFLICT"):
        cursor.not_supported("INSERT .. ON CONFLICT is not supported")
    _refuse_returning(cursor)
    return Insert(name, body.query, body.text, columns, body.canonical)


def update(cursor: Cursor) -> Update:
    """After `UPDATE`."""
    name, first = cursor.name(), cursor.index
    cursor.expect("SET")
    assignments = cursor.listed(lambda: _assignment(cursor))
    if cursor.peek("FROM"):
        cursor.not_supported("UPDATE .. FROM is not supported")
    where = _where(cursor)
    text, _ = _written(cursor, first)
    _, body = _written(cursor, first + 1)
    return Update(name, assignments, where, text, f"SET {body}")


def delete(cursor: Cursor) -> Delete:
    """After `DELETE`."""
    cursor.expect("FROM")
    name, first = cursor.name(), cursor.index
    if cursor.peek("USING"):
        cursor.not_supported("DELETE .. USING is not supported")
    where = _where(cursor)
    text, body = _written(cursor, first)
    return Delete(name, where, text, body)


def _assignment(cursor: Cursor) -> tuple[str, exp.Expression]:
    column = cursor.identifier()
    cursor.expect("=")
    return column, take_expression(cursor, ("WHERE",), ("FROM",), ("RETURNING",)).tree


def _where(cursor: Cursor) -> exp.Expression | None:
    where = None
    if cursor.accept("WHERE"):
        where = take_expression(cursor, ("RETURNING",)).tree
    _refuse_returning(cursor)
    return where


def _refuse_returning(cursor: Cursor) -> None:
    if cursor.peek("RETURNING"):
        cursor.not_supported("RETURNING is not supported")


def _written(cursor: Cursor, first: int) -> tuple[str, str]:
    taken = cursor.tokens[first : cursor.index]
    if not taken:
        return "", ""
    return cursor.sql[taken[0].start : taken[-1].end], canonical(taken)
