"""`$1`, `$2`, ..: values in the place of a statement's parameters, and their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlglot import exp

from catalog.errors import StatementError
from catalog.sql.nodes.statement import Statement
from ingest.contract.types import BIGINT, Type


@dataclass(frozen=True)
class Typed:
    """A parameter's value as text (None for NULL), with the type that the client gave it."""

    text: str | None
    type: Type


Parameter = str | Typed | None
"""A bare text is like a string literal: it becomes whatever its neighbour needs."""


def bind(statement: Statement, parameters: Sequence[Parameter]) -> Statement:
    """The statement with its parameters as literals, typed by the client or what is around them.

    Raises StatementError (42P02) for a parameter that was not given.
    """
    changes: dict[str, Any] = {}
    for field in fields(statement):
        value = getattr(statement, field.name)
        bound = _mapped(value, lambda tree: _bound_tree(tree, parameters))
        if bound is not value:
            changes[field.name] = bound
    return replace(statement, **changes) if changes else statement


def wanted(statement: Statement, given: Sequence[Type | None]) -> tuple[Type | None, ...]:
    """The types of the statement's parameters: as `given`, else as a cast beside one says.

    None is left where neither does.
    """
    found: dict[int, Type | None] = dict(enumerate(given, 1))
    for node in _parameters(statement):
        number = int(node.name)
        found[number] = found.get(number) or _type_beside(node)
    return tuple(found.get(number) for number in range(1, max(found, default=0) + 1))


def _parameters(statement: Statement) -> Iterator[exp.Parameter]:
    trees: list[exp.Expression] = []

    def collect(tree: exp.Expression) -> exp.Expression:
        trees.append(tree)
        return tree

    for field in fields(statement):
        _mapped(getattr(statement, field.name), collect)
    for tree in trees:
        yield from tree.find_all(exp.Parameter)


def _type_beside(node: exp.Parameter) -> Type | None:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if isinstance(parent, exp.Limit | exp.Offset | exp.Fetch):
        return BIGINT
    if not isinstance(parent, exp.Cast):
        return None
    try:
        return Type.parse(parent.args["to"].sql(dialect="postgres"))
    except ValueError:
        return None


def _mapped(value: Any, change: Callable[[exp.Expression], exp.Expression]) -> Any:
    """A node's field with its trees changed; the same object when there are none."""
    if isinstance(value, exp.Expression):
        return change(value)
    if isinstance(value, tuple) and any(
        isinstance(part, tuple | exp.Expression) for part in value
    ):
        return tuple(_mapped(part, change) for part in value)
    if hasattr(value, "query") and isinstance(value.query, exp.Expression):
        return replace(value, query=change(value.query))
    return value


def _bound_tree(tree: exp.Expression, parameters: Sequence[Parameter]) -> exp.Expression:
    if tree.find(exp.Parameter) is None:
        return tree

    def literal(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Parameter):
            return node
        number = int(node.name)
        if not 1 <= number <= len(parameters):
            message = f"there is no parameter ${number}"
            raise StatementError(message, sqlstate="42P02")
        return _literal(parameters[number - 1])

    bound = tree.copy().transform(literal, copy=False)
    for node in bound.find_all(exp.Limit, exp.Offset, exp.Fetch):
        _count(node)
    return bound


def _literal(value: Parameter) -> exp.Expression:
    if isinstance(value, Typed):
        kind = exp.DataType.build(value.type.sql, dialect="postgres", udt=True)
        return exp.Cast(this=_literal(value.text), to=kind)
    return exp.Null() if value is None else exp.Literal.string(value)


def _count(node: exp.Expression) -> None:
    """A number of rows stands in the tree as a number; NULL is no OFFSET."""
    key = "count" if isinstance(node, exp.Fetch) else "expression"
    inner = node.args.get(key)
    while isinstance(inner, exp.Cast | exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Literal) and inner.name.isdigit():
        node.set(key, exp.Literal.number(inner.name))
    elif isinstance(inner, exp.Null) and isinstance(node, exp.Offset):
        node.pop()
    elif isinstance(inner, exp.Null):
        node.set(key, inner)
