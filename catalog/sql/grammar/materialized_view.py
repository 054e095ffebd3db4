"""CREATE MATERIALIZED VIEW, and the options that replacements share with it."""

from __future__ import annotations

from typing import NoReturn

from catalog.sql.body import take_query
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.options import Kind, option
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.names import Name, Option

VIEW_OPTIONS: dict[str, Kind] = {"RETAIN HISTORY": "retention"}
_REFUSED = ("ASSERT NOT NULL", "PARTITION BY")


def create_materialized_view(cursor: Cursor) -> CreateMaterializedView:
    """After `CREATE MATERIALIZED VIEW`."""
    return _view(cursor, or_replace=False)


def create_or_replace_materialized_view(cursor: Cursor) -> CreateMaterializedView:
    """After `CREATE OR REPLACE MATERIALIZED VIEW`."""
    return _view(cursor, or_replace=True)


def _view(cursor: Cursor, *, or_replace: bool) -> CreateMaterializedView:
    if_not_exists = not or_replace and cursor.if_not_exists()
    name, columns = cursor.name(), column_names(cursor)
    cluster = in_cluster(cursor)
    refresh, options = with_options(cursor, VIEW_OPTIONS)
    cursor.expect("AS")
    body = take_query(cursor, ("AS", "OF"))
    return CreateMaterializedView(
        name,
        body.query,
        body.text,
        columns,
        cluster,
        refresh,
        options,
        or_replace,
        if_not_exists,
        body.canonical,
    )


def column_names(cursor: Cursor) -> tuple[str, ...]:
    """Take `(c, ..)`, if it comes next."""
    return cursor.parenthesized(cursor.identifier) if cursor.peek("(") else ()


def in_cluster(cursor: Cursor) -> Name | None:
    """Take `IN CLUSTER c`, if it comes next."""
    if not cursor.accept("IN"):
        return None
    cursor.expect("CLUSTER")
    return Name((cursor.identifier(),), cursor.at(cursor.tokens[cursor.index - 1]))


def with_options(
    cursor: Cursor, allowed: dict[str, Kind]
) -> tuple[tuple[Refresh, ...], tuple[Option, ...]]:
    """Take `WITH (..)`, if it comes next: any number of REFRESH, and each other option once."""
    refresh: list[Refresh] = []
    others: dict[str, Option] = {}
    if not cursor.accept("WITH"):
        return (), ()
    cursor.expect("(")
    while True:
        at = cursor.token.start
        for words in _REFUSED:
            if cursor.peek(*words.split()):
                cursor.not_supported(f"{words} is not supported yet")
        if cursor.accept("REFRESH"):
            refresh.append(_refresh(cursor))
        else:
            one = option(cursor, {"REFRESH": "text", **allowed})
            if one.name in others:
                cursor.fail(f"{one.name} specified more than once", at)
            others[one.name] = one
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(refresh), tuple(others.values())


def _refresh(cursor: Cursor) -> Refresh:
    cursor.accept("=")
    if cursor.accept("ON"):
        cursor.expect("COMMIT")
        return Refresh("on commit")
    if cursor.accept("EVERY"):
        every = cursor.string()
        aligned = ""
        if cursor.accept("ALIGNED"):
            cursor.expect("TO")
            aligned = cursor.string()
        return Refresh("every", every, aligned)
    if not cursor.accept("AT"):
        _no_refresh(cursor)
    if cursor.accept("CREATION"):
        return Refresh("at creation")
    return Refresh("at", cursor.string())


def _no_refresh(cursor: Cursor) -> NoReturn:
    cursor.expected("one of ON COMMIT or EVERY or AT")
