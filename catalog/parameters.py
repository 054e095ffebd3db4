"""`$1`, `$2`, ..: text values put in the place of a statement's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from catalog.errors import StatementError
from catalog.sql.nodes.statement import Statement


def bind(statement: Statement, parameters: Sequence[str | None]) -> Statement:
    """The statement with its parameters as literals, typed by what is around them.

    Raises StatementError (08P01) for a parameter that was not given.
    """
    changes: dict[str, Any] = {}
    for field in fields(statement):
        value = getattr(statement, field.name)
        bound = _bound(value, parameters)
        if bound is not value:
            changes[field.name] = bound
    return replace(statement, **changes) if changes else statement


def _bound(value: Any, parameters: Sequence[str | None]) -> Any:
    if isinstance(value, exp.Expression):
        return _bound_tree(value, parameters)
    if isinstance(value, tuple) and any(
        isinstance(part, tuple | exp.Expression) for part in value
    ):
        return tuple(_bound(part, parameters) for part in value)
    if hasattr(value, "query") and isinstance(value.query, exp.Expression):
        return replace(value, query=_bound_tree(value.query, parameters))
    return value


def _bound_tree(tree: exp.Expression, parameters: Sequence[str | None]) -> exp.Expression:
    if tree.find(exp.Parameter) is None:
        return tree

    def literal(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Parameter):
            return node
        number = int(node.name)
        if not 1 <= number <= len(parameters):
            message = f"there is no parameter ${number}"
            raise StatementError(message, sqlstate="42P02")
        value = parameters[number - 1]
        return exp.Null() if value is None else exp.Literal.string(value)

    return tree.copy().transform(literal, copy=False)
