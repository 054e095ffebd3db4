"""A view's definition as people read it: its query over several lines, a column each."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from catalog.sql import parse_one, render_pretty
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.nodes.view import CreateView
from ingest.errors import HeadraceError

Defined = CreateMaterializedView | CreateReplacement | CreateView


def defined(create_sql: str) -> Defined | None:
    """The statement behind a view's stored text; None for another kind of statement."""
    try:
        statement = parse_one(create_sql).statement
    except HeadraceError:
        return None
    return statement if isinstance(statement, Defined) else None


def pretty_query(query: exp.Query) -> str:
    """The query over several lines."""
    return query.sql(dialect="materialize", pretty=True)


def query_of(create_sql: str) -> str:
    """The query of a view's stored text over several lines; the text itself if it has none."""
    statement = defined(create_sql)
    return create_sql if statement is None else pretty_query(statement.query)


def whole(create_sql: str) -> str:
    """A view's statement with its query over several lines."""
    statement = defined(create_sql)
    if statement is None:
        return create_sql
    laid_out = replace(statement, text="\n" + pretty_query(statement.query))
    return "\n".join(line.rstrip() for line in render_pretty(laid_out).splitlines())
