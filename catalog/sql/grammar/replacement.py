"""CREATE REPLACEMENT, ALTER MATERIALIZED VIEW .. APPLY | ROLLBACK REPLACEMENT, SHOW CHANGES."""

from __future__ import annotations

from catalog.sql.body import take_query
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.materialized_view import (
    VIEW_OPTIONS,
    column_names,
    in_cluster,
    with_options,
)
from catalog.sql.grammar.options import Kind, number, options
from catalog.sql.nodes.replacement import (
    ApplyReplacement,
    CreateReplacement,
    RollbackReplacement,
    SetGuard,
    ShowChanges,
)

GUARD_OPTIONS: dict[str, Kind] = {
    "APPLY WHEN HYDRATED": "flag",
    "MAX ROWS": "number",
    "MAX PERCENT": "number",
    "WINDOW": "text",
    "REQUIRE APPROVAL": "flag",
}


def create_replacement(cursor: Cursor) -> CreateReplacement:
    """After `CREATE REPLACEMENT`: either spelling."""
    shipped = cursor.accept("MATERIALIZED", "VIEW")
    if_not_exists = cursor.if_not_exists()
    name, columns = cursor.name(), column_names(cursor)
    cursor.expect("FOR")
    if not shipped:
        cursor.expect("MATERIALIZED", "VIEW")
    target = cursor.name()
    cluster = in_cluster(cursor)
    refresh, given = with_options(cursor, VIEW_OPTIONS | GUARD_OPTIONS)
    cursor.expect("AS")
    body = take_query(cursor, ("AS", "OF"))
    return CreateReplacement(
        name,
        target,
        body.query,
        body.text,
        columns,
        cluster,
        refresh,
        given,
        if_not_exists,
        body.canonical,
    )


def alter_materialized_view(cursor: Cursor) -> ApplyReplacement | RollbackReplacement | SetGuard:
    """After `ALTER MATERIALIZED VIEW`, for what only materialized views have."""
    if_exists, name = cursor.if_exists(), cursor.name()
    if cursor.accept("SET"):
        return SetGuard(name, options(cursor, GUARD_OPTIONS), if_exists)
    change = cursor.one_of("APPLY", "ROLLBACK", "RENAME")
    cursor.expect("REPLACEMENT")
    if change == "APPLY":
        return ApplyReplacement(name, cursor.name(), if_exists)
    return RollbackReplacement(name, if_exists)


def show_changes(cursor: Cursor) -> ShowChanges:
    """After `SHOW CHANGES`."""
    cursor.expect("FOR", "REPLACEMENT")
    name = cursor.name()
    if not cursor.accept("LIMIT"):
        return ShowChanges(name)
    at = cursor.token.start
    limit = number(cursor)
    if not limit.isdecimal():
        cursor.fail("LIMIT must be a whole number", at)
    return ShowChanges(name, int(limit))
