"""Arithmetic: integer division, exact decimals, overflow as an error, dates and intervals too."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.binder import Binder, rule
from catalog.query.build import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NUMERIC,
    UNKNOWN,
    Bound,
    binary,
    both,
    call,
    cast,
    fail,
    number,
    when,
)
from catalog.query.casts import as_text, coerce
from catalog.query.names import UnknownFunction, position
from catalog.query.scope import Scope
from catalog.query.types import (
    FLOATS,
    INTEGERS,
    adapt,
    common,
    is_text,
    number_name,
    plain,
    shape_of,
)
from ingest.contract.types import TEXT, Type

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}


def no_operator(node: exp.Expr, left: Type, right: Type) -> UnknownFunction:
    """The error for operands that an operator does not take."""
    sign = _SIGNS.get(type(node), type(node).__name__)
    message = f"operator does not exist: {left.sql} {sign} {right.sql}"
    return UnknownFunction(message, position=position(node))


@rule(*_SIGNS)
def arithmetic(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`+ - * / %` over numbers, dates, timestamps and intervals."""
    left, right = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    if left.type == UNKNOWN and right.type == UNKNOWN:
        raise no_operator(node, left.type, right.type)
    left, right = _meet_unknown(left, right, node)
    if number_name(left.type) and number_name(right.type):
        return compute(type(node), left, right)
    found = _temporal(type(node), left, right, node)
    if found is None:
        raise no_operator(node, left.type, right.type)
    return found


def _meet_unknown(left: Bound, right: Bound, node: exp.Expr) -> tuple[Bound, Bound]:
    def known(unknown: Bound, other: Bound) -> Bound:
        times = ("date", "timestamp", "timestamp with time zone")
        add = other.type.name in times and (isinstance(node, exp.Add) or unknown is right)
        if add and not (isinstance(node, exp.Sub) and _looks_dated(unknown)):
            return coerce(unknown, INTERVAL, node)
        return coerce(unknown, plain(other.type), node)

    if left.type == UNKNOWN:
        return known(left, right), right
    if right.type == UNKNOWN:
        return left, known(right, left)
    return left, right


def _looks_dated(bound: Bound) -> bool:
    return (bound.literal or "")[:4].isdigit()


def compute(kind: type[exp.Expr], left: Bound, right: Bound) -> Bound:
    """Arithmetic on two numbers, in PostgreSQL's result type."""
    met = common(Type(number_name(left.type) or ""), Type(number_name(right.type) or ""))
    type_ = met or NUMERIC
    if type_.name == "numeric":
        return _numeric(kind, left, right)
    a, b = adapt(_counted(left), type_).node, adapt(_counted(right), type_).node
    if kind is exp.Div and type_.name in INTEGERS:
        return Bound(cast(binary(exp.IntDiv, a, b), type_.spark), type_)
    assert issubclass(kind, exp.Binary)  # noqa: S101
    return Bound(cast(binary(kind, a, b), type_.spark), type_)


def _counted(bound: Bound) -> Bound:
    """Types beside PostgreSQL's numbers, as the number they are stored as."""
    name = number_name(bound.type) or bound.type.name
    return bound if name == bound.type.name else Bound(bound.node, Type(name))


def decimal(bound: Bound) -> tuple[exp.Expr, int, int]:
    """A number as a decimal, with its digits before and after the point."""
    precision, scale = bound.shape or shape_of(bound.type)
    node = bound.node
    if number_name(bound.type) in INTEGERS or bound.type.name == "uint8":
        node = cast(node, f"decimal({precision},{scale})")
    return node, precision - scale, scale


def _numeric(kind: type[exp.Expr], left: Bound, right: Bound) -> Bound:
    a, whole_a, scale_a = decimal(left)
    b, whole_b, scale_b = decimal(right)
    if kind is exp.Div:
        return _divide(a, b)
    if kind is exp.Mul:
        return _multiply(a, b, whole_a + whole_b + 1, scale_a + scale_b)
    scale = max(scale_a, scale_b)
    whole = max(whole_a, whole_b) + (0 if kind is exp.Mod else 1)
    if whole + scale > 38:
        width = f"decimal({37},{scale})"
        a, b, whole = cast(a, width), cast(b, width), 38 - scale
    assert issubclass(kind, exp.Binary)  # noqa: S101
    return Bound(binary(kind, a, b), NUMERIC, (whole + scale, scale))


def _divide(a: exp.Expr, b: exp.Expr) -> Bound:
    """Spark would keep six digits: the whole part exactly, the rest to fifteen."""
    rest = binary(exp.Mod, a, b)
    whole = cast(binary(exp.IntDiv, a, b), "decimal(19,0)")
    fraction = cast(binary(exp.Div, cast(rest, "double"), cast(b, "double")), "decimal(18,15)")
    return Bound(binary(exp.Add, whole, fraction), NUMERIC, (35, 15))


def _multiply(a: exp.Expr, b: exp.Expr, whole: int, scale: int) -> Bound:
    if whole + scale <= 38:
        return Bound(binary(exp.Mul, a, b), NUMERIC, (whole + scale, scale))
    small = [cast(side, "decimal(18,9)", safe=True) for side in (a, b)]
    exact = [binary(exp.EQ, side, tried) for side, tried in zip((a, b), small, strict=True)]
    short = [binary(exp.EQ, side, call("ROUND", side, number(3))) for side in (a, b)]
    product = cast(binary(exp.Mul, *small), "decimal(38,18)")
    wide = cast(binary(exp.Mul, a, b), "decimal(38,18)")
    nothing = exp.Paren(this=exp.Is(this=binary(exp.Mul, a, b), expression=exp.Null()))
    node = when(
        (nothing, exp.Null()),
        (both(*exact), product),
        (both(*short), wide),
        other=cast(fail("numeric product needs more digits than are kept here"), "decimal(38,18)"),
    )
    return Bound(node, NUMERIC, (38, 18))


def _temporal(kind: type[exp.Expr], left: Bound, right: Bound, node: exp.Expr) -> Bound | None:
    names = left.type.name, right.type.name
    later = names[1] in ("date", "timestamp", "timestamp with time zone")
    if kind is exp.Add and later and names[0] in ("integer", "smallint", "interval"):
        return _temporal(kind, right, left, node)
    if kind in (exp.Mul, exp.Div) and "interval" in names:
        return _scaled(kind, left, right)
    if kind not in (exp.Add, exp.Sub):
        return None
    return _dated(kind, left, right)


def _dated(kind: type[exp.Expr], left: Bound, right: Bound) -> Bound | None:
    names = left.type.name, right.type.name
    operator = exp.Add if kind is exp.Add else exp.Sub
    if names[0] == "date" and names[1] in ("integer", "smallint"):
        name = "DATE_ADD" if kind is exp.Add else "DATE_SUB"
        return Bound(call(name, left, right), DATE)
    if names == ("date", "date") and kind is exp.Sub:
        return Bound(call("DATEDIFF", left, right), INTEGER)
    times = ("date", "timestamp", "timestamp with time zone")
    if names[0] in times and names[1] == "interval":
        moment = left if names[0] != "date" else coerce(left, Type("timestamp"), left.node)
        return Bound(binary(operator, moment.node, right.node), moment.type)
    if names[0] in times and names[1] in times and kind is exp.Sub:
        met = common(left.type, right.type)
        if met is None:
            return None
        pair = [coerce(side, met, side.node).node for side in (left, right)]
        return Bound(binary(exp.Sub, *pair), INTERVAL)
    if names == ("interval", "interval") and left.months == right.months:
        return Bound(binary(operator, left.node, right.node), INTERVAL, months=left.months)
    return None


def _scaled(kind: type[exp.Expr], left: Bound, right: Bound) -> Bound | None:
    interval, factor = (left, right) if left.type == INTERVAL else (right, left)
    if number_name(factor.type) is None or (kind is exp.Div and right is interval):
        return None
    operator = exp.Mul if kind is exp.Mul else exp.Div
    return Bound(binary(operator, interval.node, factor.node), INTERVAL, months=interval.months)


@rule(exp.Neg)
def negative(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`-x`."""
    inner = binder.bind(node.this, scope)
    if number_name(inner.type) is None and inner.type != INTERVAL:
        message = f"operator does not exist: - {inner.type.sql}"
        raise UnknownFunction(message, position=position(node))
    minus = exp.Paren(this=exp.Neg(this=exp.Paren(this=inner.node)))
    return Bound(minus, inner.type, inner.shape, inner.months)


_BITS: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "#",
}


@rule(*_BITS)
def bits(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`& | #` over integers."""
    left, right = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    type_ = common(left.type, right.type)
    if type_ is None or type_.name not in INTEGERS:
        message = f"operator does not exist: {left.type.sql} {_BITS[type(node)]} {right.type.sql}"
        raise UnknownFunction(message, position=position(node))
    kind = type(node)
    assert issubclass(kind, exp.Binary)  # noqa: S101
    return Bound(binary(kind, adapt(left, type_).node, adapt(right, type_).node), type_)


@rule(exp.BitwiseLeftShift, exp.BitwiseRightShift)
def shift(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`<< >>`."""
    left, right = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    if left.type.name not in INTEGERS or right.type.name not in INTEGERS:
        raise binder.unsupported(node)
    name = "SHIFTLEFT" if isinstance(node, exp.BitwiseLeftShift) else "SHIFTRIGHT"
    return Bound(call(name, left, adapt(right, INTEGER)), left.type)


@rule(exp.BitwiseNot)
def complement(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`~x`."""
    inner = binder.bind(node.this, scope)
    if inner.type.name not in INTEGERS:
        raise binder.unsupported(node)
    return Bound(exp.Paren(this=exp.BitwiseNot(this=exp.Paren(this=inner.node))), inner.type)


@rule(exp.DPipe)
def concatenate(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`||` over text, arrays and jsonb."""
    left, right = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    if left.type.array or right.type.array:
        return _joined_arrays(left, right, node)
    names = {left.type.name, right.type.name}
    if names & {"jsonb", "json", "record"}:
        raise binder.unsupported(node)
    if not (is_text(left.type) or is_text(right.type) or UNKNOWN in (left.type, right.type)):
        message = f"operator does not exist: {left.type.sql} || {right.type.sql}"
        raise UnknownFunction(message, position=position(node))
    return Bound(call("CONCAT", as_text(left), as_text(right)), TEXT)


def _joined_arrays(left: Bound, right: Bound, node: exp.Expr) -> Bound:
    array = left.type if left.type.array else right.type
    element = Type(array.name)
    sides = []
    for side in (left, right):
        if side.type.array:
            sides.append(call("COALESCE", side.node, cast(call("ARRAY"), array.spark)))
        elif side.type == UNKNOWN and side.literal is None:
            sides.append(cast(call("ARRAY"), array.spark))
        else:
            sides.append(call("ARRAY", coerce(side, element, node)))
    return Bound(call("CONCAT", *sides), array)


@rule(exp.Pow)
def power(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`^` and power(): double precision (PostgreSQL's numeric power to the digits kept here)."""
    left, right = binder.bind(node.this, scope), binder.bind(node.expression, scope)
    names = {number_name(left.type), number_name(right.type)}
    if None in names:
        message = f"operator does not exist: {left.type.sql} ^ {right.type.sql}"
        raise UnknownFunction(message, position=position(node))
    raised = call("POWER", cast(left.node, "double"), cast(right.node, "double"))
    if "numeric" in names and not names & FLOATS:
        return Bound(cast(raised, "decimal(38,18)"), NUMERIC, (38, 18))
    return Bound(raised, DOUBLE)
