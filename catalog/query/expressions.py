"""Columns, constants, logic, comparison, CASE, IN, EXISTS, subqueries."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import Binder, rule
from catalog.query.build import (
    BOOLEAN,
    COMPARISONS,
    INTEGER,
    NUMERIC,
    RECORD,
    UNKNOWN,
    Bound,
    binary,
    call,
    cast,
    number,
    text,
)
from catalog.query.casts import coerce
from catalog.query.names import TypeMismatch, UnknownFunction, fold, position
from catalog.query.rewrite_json import canonical
from catalog.query.scope import Scope
from catalog.query.types import common, common_of, plain, shape_of
from ingest.contract.types import BIGINT, Type


@rule(exp.Column)
def column(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A column, by its own or its table's name."""
    if node.args.get("catalog") or isinstance(node.this, exp.Star):
        raise binder.unsupported(node)
    table = fold(node.args["table"]) if node.args.get("table") else ""
    assert isinstance(node, exp.Column)  # noqa: S101
    return scope.column(node, table, fold(node.this))


@rule(exp.Literal)
def literal(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A number or a string constant."""
    if node.is_string:
        return Bound(text(node.name), UNKNOWN, literal=node.name)
    value = node.name
    if value.isdigit():
        return _whole(int(value))
    plain_text = format(Decimal(value), "f")
    digits, _, fraction = plain_text.partition(".")
    shape = (max(len(digits.lstrip("0")) + len(fraction), 1), len(fraction))
    if shape[0] > 38:
        message = f"value {value} is out of range for numeric"
        raise StatementError(message, sqlstate="22003", position=position(node))
    exact = cast(text(plain_text), f"decimal({shape[0]},{shape[1]})")
    return Bound(exact, NUMERIC, shape=shape)


def _whole(value: int) -> Bound:
    if value < 2**31:
        return Bound(number(value), INTEGER)
    if value < 2**63:
        return Bound(number(value), BIGINT)
    shape = (len(str(value)), 0)
    return Bound(cast(text(str(value)), f"decimal({shape[0]},0)"), NUMERIC, shape=shape)


@rule(exp.RawString, exp.ByteString)
def raw_string(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`$$..$$` and `E'..'`."""
    return Bound(text(node.name), UNKNOWN, literal=node.name)


@rule(exp.Null)
def null(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """NULL, of any type."""
    return Bound(exp.Null(), UNKNOWN)


@rule(exp.Boolean)
def boolean(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """TRUE, FALSE."""
    return Bound(node.copy(), BOOLEAN)


@rule(exp.Paren)
def paren(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`(expr)`."""
    inner = binder.bind(node.this, scope)
    node_ = inner.node if isinstance(inner.node, exp.Paren) else exp.Paren(this=inner.node)
    return Bound(node_, inner.type, inner.shape, inner.months, inner.literal)


def truth(binder: Binder, node: exp.Expr, scope: Scope, what: str) -> exp.Expr:
    """A boolean operand."""
    bound = binder.bind(node, scope)
    if bound.type.name not in ("boolean", "unknown"):
        message = f"argument of {what} must be type boolean, not type {bound.type.sql}"
        raise TypeMismatch(message, position=position(node))
    return coerce(bound, BOOLEAN, node).node


@rule(exp.And, exp.Or)
def logic(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """AND, OR; long chains without recursion."""
    kind = type(node)
    parts = [truth(binder, p, scope, kind.__name__.upper()) for p in node.flatten(unnest=False)]
    joined = exp.and_(*parts) if kind is exp.And else exp.or_(*parts)
    return Bound(exp.Paren(this=joined), BOOLEAN)


@rule(exp.Not)
def not_(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """NOT."""
    return Bound(exp.Not(this=exp.Paren(this=truth(binder, node.this, scope, "NOT"))), BOOLEAN)


@rule(exp.Is)
def is_(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """IS [NOT] NULL, TRUE, FALSE, UNKNOWN."""
    against = node.expression
    if isinstance(against, exp.Null):
        operand = binder.bind(node.this, scope).node
    elif isinstance(against, exp.Boolean):
        operand = truth(binder, node.this, scope, "IS")
    else:
        raise binder.unsupported(node)
    test: exp.Expr = exp.Paren(
        this=exp.Is(this=exp.Paren(this=operand), expression=against.copy())
    )
    if node.args.get("negate"):
        test = exp.Not(this=test)
    return Bound(test, BOOLEAN)


_OPERATORS: dict[type[exp.Expr], str] = {
    **COMPARISONS,
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}


def compared(left: Bound, right: Bound, node: exp.Expr) -> tuple[Bound, Bound]:
    """Both sides in the type they are compared in; raises UnknownFunction when there is none."""
    type_ = common(left.type, right.type)
    operator = _OPERATORS.get(type(node), "=")
    if type_ is None or left.months != right.months:
        message = f"operator does not exist: {left.type.sql} {operator} {right.type.sql}"
        raise UnknownFunction(message, position=position(node))
    if type_.name == "json":
        message = f"operator does not exist: json {operator} json"
        raise UnknownFunction(message, position=position(node))
    pair = coerce(left, type_, node), coerce(right, type_, node)
    return (canonical(pair[0]), canonical(pair[1])) if type_.name == "jsonb" else pair


@rule(*_OPERATORS)
def comparison(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`=`, `<`, ..., IS DISTINCT FROM; rows side by side; `= ANY (..)`."""
    if isinstance(node.expression, exp.Any | exp.All) or _is_all(node.expression):
        return _quantified(binder, node, scope)
    left, right = (_row(side) for side in (node.this, node.expression))
    if left and right:
        return _rows(binder, node, scope, left, right)
    bounds = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    return Bound(_compare(type(node), *compared(*bounds, node)), BOOLEAN)


def _compare(kind: type[exp.Expr], left: Bound, right: Bound) -> exp.Expr:
    if kind is exp.NullSafeNEQ:
        return exp.Not(this=binary(exp.NullSafeEQ, left.node, right.node))
    assert issubclass(kind, exp.Binary)  # noqa: S101
    return binary(kind, left.node, right.node)


def _row(node: exp.Expr) -> list[exp.Expr] | None:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "row":
        return list(node.expressions)
    return None


def _rows(
    binder: Binder,
    node: exp.Expr,
    scope: Scope,
    left: list[exp.Expr],
    right: list[exp.Expr],
) -> Bound:
    if len(left) != len(right):
        raise StatementError(
            "unequal number of entries in row expressions",
            sqlstate="42601",
            position=position(node),
        )
    if not isinstance(node, exp.EQ | exp.NEQ):
        raise binder.unsupported(node)
    tests: list[exp.Expr] = []
    for a, b in zip(left, right, strict=True):
        pair = compared(binder.bind(a, scope), binder.bind(b, scope), node)
        tests.append(binary(exp.EQ, pair[0].node, pair[1].node))
    test = exp.Paren(this=exp.and_(*tests))
    return Bound(exp.Not(this=test) if isinstance(node, exp.NEQ) else test, BOOLEAN)


def _is_all(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in ("all", "any", "some")


def _quantified(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    quantifier = node.expression
    if not isinstance(quantifier, exp.Any):
        raise binder.unsupported(node)
    inner = quantifier.this
    if isinstance(inner, exp.Subquery) and isinstance(node, exp.EQ):
        return member(binder, exp.In(this=node.this, query=inner), scope)
    array = binder.bind(inner, scope)
    left = binder.bind(node.this, scope)
    if array.type == UNKNOWN:
        array = coerce(array, Type(plain(left.type).name, array=True), node)
    if not array.type.array:
        raise StatementError(
            "op ANY/ALL (array) requires array on right side",
            sqlstate="42809",
            position=position(node),
        )
    element = exp.to_identifier("e_")
    item = Bound(exp.Column(this=element), Type(array.type.name))
    a, b = compared(left, item, node)
    body = exp.Lambda(this=_compare(type(node), a, b), expressions=[element])
    return Bound(call("EXISTS", array.node, body), BOOLEAN)


@rule(exp.In)
def member(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """IN over a list or a subquery, for values and rows."""
    query = node.args.get("query")
    if query is not None:
        return _in_query(binder, node, query, scope)
    kinds = [
        comparison(binder, exp.EQ(this=node.this, expression=e), scope) for e in node.expressions
    ]
    return Bound(exp.Paren(this=exp.or_(*[kind.node for kind in kinds])), BOOLEAN)


def _in_query(binder: Binder, node: exp.Expr, query: exp.Expr, scope: Scope) -> Bound:
    body = query.this if isinstance(query, exp.Subquery) else query
    inner = binder.query(binder, body, scope)
    left = binder.bind_all(_row(node.this) or [node.this], scope)
    if len(left) != len(inner.outputs):
        raise StatementError(
            "subquery has too many columns"
            if len(inner.outputs) > len(left)
            else "subquery has too few columns",
            sqlstate="42601",
            position=position(query),
        )
    for bound, output in zip(left, inner.outputs, strict=True):
        type_ = common(bound.type, output.type)
        if type_ is None or type_.name == "jsonb":
            message = f"operator does not exist: {bound.type.sql} = {output.type.sql}"
            raise UnknownFunction(message, position=position(node))
    values = [
        coerce(b, o.type, node).node if b.type == UNKNOWN else b.node
        for b, o in zip(left, inner.outputs, strict=True)
    ]
    this = values[0] if len(values) == 1 else exp.Tuple(expressions=values)
    sub = exp.Subquery(this=inner.node)
    return Bound(exp.Paren(this=exp.In(this=this, query=sub)), BOOLEAN)


@rule(exp.Between)
def between(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """BETWEEN [SYMMETRIC]."""

    def inside(low: exp.Expr, high: exp.Expr) -> exp.Expr:
        above = comparison(binder, exp.GTE(this=node.this, expression=low), scope)
        below = comparison(binder, exp.LTE(this=node.this, expression=high), scope)
        return exp.Paren(this=exp.and_(above.node, below.node))

    low, high = node.args["low"], node.args["high"]
    test = inside(low, high)
    if node.args.get("symmetric"):
        test = exp.Paren(this=exp.or_(test, inside(high, low)))
    return Bound(test, BOOLEAN)


@rule(exp.Case)
def case(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """CASE, both forms; every branch in the common type."""
    tests: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        if node.this is None:
            tests.append(truth(binder, branch.this, scope, "CASE/WHEN"))
        else:
            equal = exp.EQ(this=node.this, expression=branch.this)
            tests.append(comparison(binder, equal, scope).node)
    values = [binder.bind(branch.args["true"], scope) for branch in node.args["ifs"]]
    default = node.args.get("default")
    values += [binder.bind(default, scope)] if default else []
    values = unify(values, "CASE", node)
    ifs = [exp.If(this=t, true=v.node) for t, v in zip(tests, values, strict=False)]
    last = values[-1].node if default else None
    return Bound(
        exp.Case(ifs=ifs, default=last), values[0].type, values[0].shape, values[0].months
    )


def unify(values: list[Bound], what: str, node: exp.Expr) -> list[Bound]:
    """The values in their common type, with a decimal wide enough for all of them."""
    type_ = common_of(values, what, position(node))
    if len({value.months for value in values if value.type.name == "interval"}) > 1:
        raise NotSupported(
            "intervals of months and of time cannot be mixed", position=position(node)
        )
    done = [coerce(value, type_, node) for value in values]
    if type_.name != "numeric" or type_.array:
        return done
    shapes = [value.shape or shape_of(value.type) for value in done]
    scale = max(shape[1] for shape in shapes)
    whole = max(shape[0] - shape[1] for shape in shapes)
    shape = (min(whole + scale, 38), scale)
    return [Bound(value.node, type_, shape) for value in done]


@rule(exp.Subquery)
def scalar(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A subquery where a value stands."""
    inner = binder.query(binder, node, scope)
    if len(inner.outputs) != 1:
        raise StatementError(
            "subquery must return only one column", sqlstate="42601", position=position(node)
        )
    output = inner.outputs[0]
    return Bound(exp.Subquery(this=inner.node), output.type, output.shape, output.months)


@rule(exp.Exists)
def exists(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """EXISTS (query)."""
    return Bound(exp.Exists(this=binder.query(binder, node.this, scope).node), BOOLEAN)


@rule(exp.Tuple)
def row(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A row where a value stands: only to be counted or compared."""
    bounds = binder.bind_all(node.expressions, scope)
    return Bound(call("STRUCT", *bounds), RECORD)
