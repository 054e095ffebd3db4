"""Conditions over single columns, in a form that the data plane can try without Spark."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from catalog.query.blocks.shape import plain
from catalog.query.build import COMPARISONS, Comparison
from ingest.contract.views import Condition, ConditionHow, Value

_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
Names = Callable[[exp.Column], str | None]
_TURNED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def condition(node: exp.Expr, column: Names) -> Condition | None:
    """A condition over what `column` says are columns of a child; None where it is another
    kind."""
    node = plain(node)
    if isinstance(node, exp.And | exp.Or):
        sides = [condition(side, column) for side in (node.this, node.expression)]
        found = tuple(side for side in sides if side is not None)
        how: ConditionHow = "and" if isinstance(node, exp.And) else "or"
        return Condition(how, parts=found) if len(found) == len(sides) else None
    if isinstance(node, exp.Not):
        inner = condition(node.this, column)
        return None if inner is None else Condition("not", parts=(inner,))
    if isinstance(node, exp.Is):
        name = _column(node.this, column)
        missing = isinstance(node.expression, exp.Null)
        return Condition("null", name) if name is not None and missing else None
    if type(node) in COMPARISONS:
        return _comparison(node, column)
    name = _column(node, column)
    return None if name is None else Condition("true", name)


def _comparison(node: exp.Expr, column: Names) -> Condition | None:
    how, left, right = COMPARISONS[type(node)], node.this, node.expression
    if _value(left) is not None:
        how, left, right = _TURNED.get(how, how), right, left
    name, value = _column(left, column), _value(right)
    return None if name is None or value is None else Condition(how, name, value)


def _column(node: exp.Expr, column: Names) -> str | None:
    node = plain(node)
    return column(node) if isinstance(node, exp.Column) else None


def _value(node: exp.Expr) -> Value | None:
    """A constant; None for what is none, or is of a type that has no order here."""
    node = plain(node)
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return -inner if isinstance(inner, int | Decimal) else None
    if isinstance(node, exp.Literal):
        whole = not node.is_string and node.name.isdigit()
        return int(node.name) if whole else node.name if node.is_string else None
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        return _cast(node.this.name, node.to.sql(dialect="spark"))
    return None


def _cast(text: str, kind: str) -> Value | None:
    try:
        if kind == "DATE":
            day = dt.date.fromisoformat(text)
            return day if day.isoformat() == text else None
        if found := _DECIMAL.fullmatch(kind):
            return _fitting(Decimal(text), int(found[1]), int(found[2]))
    except (ValueError, InvalidOperation):
        return None
    return None


def _fitting(value: Decimal, digits: int, places: int) -> Decimal | None:
    """The number, if the cast does not round it."""
    same = value == round(value, places)
    return value if same and abs(value) < Decimal(10) ** (digits - places) else None
