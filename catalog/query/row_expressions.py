"""Expressions over one row of a table, for UPDATE and DELETE."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.binder import Binder, Moment
from catalog.query.names import Names
from catalog.query.scope import Output, Scope, Source
from catalog.query.select import bind_query, condition
from catalog.query.types import shape_of
from ingest.contract.relation import Relation


def row_expressions(
    table: tuple[str, Relation],
    names: Names,
    moment: Moment,
    assignments: Mapping[str, exp.Expr],
    where: exp.Expr | None,
) -> tuple[dict[str, str], str | None]:
    """Spark SQL for the assigned values, by column, and for the condition.

    `table` is what the statement calls the table, and its columns. Raises StatementError like
    `compile_query`, and NotSupported for a subquery.
    """
    binder = Binder(names, moment, query=bind_query)
    scope = Scope(sources=[_source(*table)])
    for node in (*assignments.values(), *([where] if where is not None else ())):
        if node.find(exp.Query):
            message = "subqueries in UPDATE and DELETE are not supported yet"
            raise NotSupported(message)
    values = {name: _text(binder.bind(node, scope).node) for name, node in assignments.items()}
    if where is None:
        return values, None
    return values, _text(condition(binder, where, scope, "WHERE"))


def _source(name: str, relation: Relation) -> Source:
    outputs = tuple(
        Output(c.name, c.type, c.name, shape_of(c.type) if c.type.name == "numeric" else None)
        for c in relation.columns
    )
    return Source(name, "", outputs)


def _text(node: exp.Expr) -> str:
    """The expression with its columns named alone, as a row of the table itself has them."""
    copy = node.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy.sql(dialect="spark")
