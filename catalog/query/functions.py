"""The functions that may be called, by PostgreSQL name; every other name is refused (42883)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from catalog.errors import NotSupported
from catalog.query.aggregates import AGGREGATES, WINDOWS, bind_aggregate, bind_window_call
from catalog.query.arrays import ARRAYS
from catalog.query.binder import RULES, Binder, rule
from catalog.query.build import (
    BOOLEAN,
    BYTEA,
    DOUBLE,
    INTEGER,
    NUMERIC,
    UNKNOWN,
    Bound,
    binary,
    call,
    cast,
    number,
    text,
    when,
)
from catalog.query.calls import Call, call_classes, pg_call
from catalog.query.casts import as_text, coerce
from catalog.query.expressions import compared, unify
from catalog.query.json_functions import JSON
from catalog.query.names import UnknownFunction, position
from catalog.query.rewrite_numeric import compute, decimal
from catalog.query.rewrite_time import mz_now, now_constant
from catalog.query.scope import Scope
from catalog.query.types import FLOATS, INTEGERS, is_float, is_text, number_name
from ingest.contract.types import TEXT, Type

Special = Callable[[Binder, list[Bound], exp.Expr], Bound]


@dataclass(frozen=True)
class Plain:
    """A function that Spark has with the same meaning."""

    spark: str
    arguments: tuple[Type, ...]
    result: Type
    required: int


def _plain(spark: str, result: Type, *arguments: Type, required: int | None = None) -> Plain:
    return Plain(spark, arguments, result, len(arguments) if required is None else required)


PLAIN: dict[str, Plain] = {
    "lower": _plain("LOWER", TEXT, TEXT),
    "upper": _plain("UPPER", TEXT, TEXT),
    "initcap": _plain("INITCAP", TEXT, TEXT),
    "reverse": _plain("REVERSE", TEXT, TEXT),
    "replace": _plain("REPLACE", TEXT, TEXT, TEXT, TEXT),
    "repeat": _plain("REPEAT", TEXT, TEXT, INTEGER),
    "md5": _plain("MD5", TEXT, TEXT),
    "starts_with": _plain("STARTSWITH", BOOLEAN, TEXT, TEXT),
    "lpad": _plain("LPAD", TEXT, TEXT, INTEGER, TEXT, required=2),
    "rpad": _plain("RPAD", TEXT, TEXT, INTEGER, TEXT, required=2),
    "chr": _plain("CHR", TEXT, INTEGER),
    "exp": _plain("EXP", DOUBLE, DOUBLE),
    "ln": _plain("LN", DOUBLE, DOUBLE),
    "sqrt": _plain("SQRT", DOUBLE, DOUBLE),
    "translate": _plain("TRANSLATE", TEXT, TEXT, TEXT, TEXT),
}


@rule(*(kind for kind in call_classes() if kind not in RULES))
def function(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """A function call."""
    called = pg_call(node)
    if called is None:
        raise binder.unsupported(node)
    return bind_call(binder, called, node, scope)


def bind_call(binder: Binder, called: Call, node: exp.Expr, scope: Scope) -> Bound:
    """The call in Spark's words; raises UnknownFunction (42883)."""
    name = called.name
    if name in AGGREGATES:
        return bind_aggregate(binder, name, called.args, node, scope)
    if name in WINDOWS:
        return bind_window_call(binder, name, called.args, node, scope)
    if name not in PLAIN and name not in SPECIAL:
        raise unknown(name, None, node)
    arguments = binder.bind_all(list(called.args), scope)
    if name in SPECIAL:
        low, high, special = SPECIAL[name]
        if not low <= len(arguments) <= high:
            raise unknown(name, arguments, node)
        return special(binder, arguments, node)
    return _call_plain(PLAIN[name], name, arguments, node)


def unknown(name: str, arguments: list[Bound] | None, node: exp.Expr) -> UnknownFunction:
    """The error for a function that is not there, or not for these types."""
    kinds = "" if arguments is None else f"({', '.join(a.type.sql for a in arguments)})"
    if arguments is None:
        return UnknownFunction(f'function "{name}" does not exist', position=position(node))
    return UnknownFunction(f"function {name}{kinds} does not exist", position=position(node))


def _call_plain(plain: Plain, name: str, arguments: list[Bound], node: exp.Expr) -> Bound:
    if not plain.required <= len(arguments) <= len(plain.arguments):
        raise unknown(name, arguments, node)
    given = []
    for argument, wanted in zip(arguments, plain.arguments, strict=False):
        if not _accepts(argument.type, wanted):
            raise unknown(name, arguments, node)
        given.append(coerce(argument, wanted, node))
    return Bound(call(plain.spark, *given), plain.result)


def _accepts(given: Type, wanted: Type) -> bool:
    if given == UNKNOWN:
        return True
    if given.array or wanted.array:
        return given == wanted
    if is_text(wanted):
        return is_text(given)
    if wanted == INTEGER:
        return given.name in INTEGERS
    if wanted == DOUBLE:
        return number_name(given) is not None
    return given.name == wanted.name


def _concat(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    parts = [call("COALESCE", as_text(_no_bool(a, node)), text("")) for a in arguments]
    return Bound(call("CONCAT", *parts), TEXT)


def _no_bool(bound: Bound, node: exp.Expr) -> Bound:
    if bound.type == BOOLEAN:
        shown = when((bound.node, text("t")), (exp.Not(this=bound.node.copy()), text("f")))
        return Bound(shown, TEXT)
    if bound.type.array or bound.type.name == "record":
        raise NotSupported(
            "concat of arrays and rows is not supported yet", position=position(node)
        )
    return bound


def _concat_ws(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    return Bound(call("CONCAT_WS", *[as_text(_no_bool(a, node)) for a in arguments]), TEXT)


def _coalesce(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    values = unify(arguments, "COALESCE", node)
    return Bound(call("COALESCE", *values), values[0].type, values[0].shape, values[0].months)


def _nullif(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    left, right = compared(arguments[0], arguments[1], node)
    first = coerce(arguments[0], left.type, node) if arguments[0].type == UNKNOWN else arguments[0]
    same = binary(exp.EQ, left.node, right.node)
    return Bound(when((same, exp.Null()), other=first.node), first.type, first.shape)


def _extreme(spark: str) -> Special:
    def bind(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
        values = unify(arguments, spark, node)
        if len(values) == 1:
            return values[0]
        return Bound(call(spark, *values), values[0].type, values[0].shape, values[0].months)

    return bind


def _length(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = arguments[0]
    if value.type == BYTEA or is_text(value.type) or value.type == UNKNOWN:
        return Bound(call("LENGTH", value), INTEGER)
    raise unknown("length", arguments, node)


def _trim(spark: str) -> Special:
    def bind(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
        if not all(_accepts(a.type, TEXT) for a in arguments):
            raise unknown(spark.lower(), arguments, node)
        characters = arguments[1].node if len(arguments) > 1 else text(" ")
        return Bound(call(spark, characters, arguments[0]), TEXT)

    return bind


def _btrim(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if not all(_accepts(a.type, TEXT) for a in arguments):
        raise unknown("btrim", arguments, node)
    characters = arguments[1].node if len(arguments) > 1 else text(" ")
    return Bound(call("BTRIM", arguments[0].node, characters), TEXT)


def _side(spark: str) -> Special:
    def bind(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
        value, count = arguments
        if not _accepts(value.type, TEXT) or count.type.name not in INTEGERS:
            raise unknown(spark.lower(), arguments, node)
        size = call("LENGTH", value)
        kept = call("GREATEST", binary(exp.Add, size, count.node), number(0))
        wanted = when((binary(exp.LT, count.node, number(0)), kept), other=count.node)
        return Bound(call(spark, value.node, wanted), TEXT)

    return bind


def _split_part(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if not all(_accepts(a.type, TEXT) for a in arguments[:2]):
        raise unknown("split_part", arguments, node)
    return Bound(call("SPLIT_PART", *arguments), TEXT)


def _mod(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if not all(number_name(a.type) for a in arguments):
        raise unknown("mod", arguments, node)
    return compute(exp.Mod, arguments[0], arguments[1])


def _abs(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = arguments[0]
    if number_name(value.type) is None:
        raise unknown("abs", arguments, node)
    return Bound(call("ABS", value), value.type, value.shape)


def _round(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = arguments[0]
    if is_float(value) and len(arguments) == 1:
        return Bound(call("BROUND", cast(value.node, "double"), number(0)), DOUBLE)
    places = _places(arguments, node, "round")
    if is_float(value) or number_name(value.type) is None:
        raise unknown("round", arguments, node)
    return _shortened("ROUND", value, places)


def _places(arguments: list[Bound], node: exp.Expr, name: str) -> int:
    if len(arguments) == 1:
        return 0
    written = arguments[1].node.sql(dialect="spark").replace("(", "").replace(")", "")
    if not written.removeprefix("-").isdigit():
        message = f"the places of {name} must be a constant"
        raise NotSupported(message, position=position(node))
    return int(written)


def _shortened(spark: str, value: Bound, places: int) -> Bound:
    exact, whole, scale = decimal(value)
    kept = max(min(places, scale), 0)
    shape = (min(whole + 1 + kept, 38), kept)
    rounded = call(spark, exact, number(places))
    return Bound(cast(rounded, f"decimal({shape[0]},{shape[1]})"), NUMERIC, shape)


def _trunc(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = arguments[0]
    if number_name(value.type) is None or (is_float(value) and len(arguments) > 1):
        raise unknown("trunc", arguments, node)
    if is_float(value):
        cut = when(
            (binary(exp.LT, value.node, number(0)), call("CEIL", value)),
            other=call("FLOOR", value),
        )
        return Bound(cast(cut, "double"), DOUBLE)
    places = _places(arguments, node, "trunc")
    down, up = (_shortened(name, value, places) for name in ("FLOOR", "CEIL"))
    node_ = when((binary(exp.LT, value.node, number(0)), up.node), other=down.node)
    return Bound(node_, NUMERIC, down.shape)


def _whole(spark: str) -> Special:
    def bind(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
        value = arguments[0]
        if number_name(value.type) is None:
            raise unknown(spark.lower(), arguments, node)
        if number_name(value.type) == "numeric":
            return _shortened(spark, value, 0)
        return Bound(cast(call(spark, cast(value.node, "double")), "double"), DOUBLE)

    return bind


def _sign(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    value = arguments[0]
    if number_name(value.type) is None:
        raise unknown("sign", arguments, node)
    if number_name(value.type) == "numeric":
        return Bound(cast(call("SIGN", value), "decimal(1,0)"), NUMERIC, (1, 0))
    return Bound(call("SIGN", value), DOUBLE)


def _log(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if number_name(arguments[0].type) not in FLOATS | INTEGERS or len(arguments) > 1:
        raise NotSupported("log of numeric is not supported yet", position=position(node))
    return Bound(call("LOG10", coerce(arguments[0], DOUBLE, node)), DOUBLE)


def _mz_now(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    return mz_now(binder)


def _now(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    return now_constant(binder)


def _hex(binder: Binder, arguments: list[Bound], node: exp.Expr) -> Bound:
    if arguments[0].type != BYTEA or arguments[1].literal not in ("hex", "base64"):
        raise unknown("encode", arguments, node)
    if arguments[1].literal == "hex":
        return Bound(call("LOWER", call("HEX", arguments[0])), TEXT)
    return Bound(call("BASE64", arguments[0]), TEXT)


SPECIAL: dict[str, tuple[int, int, Special]] = {
    **ARRAYS,
    **JSON,
    "abs": (1, 1, _abs),
    "btrim": (1, 2, _btrim),
    "ceil": (1, 1, _whole("CEIL")),
    "ceiling": (1, 1, _whole("CEIL")),
    "clock_timestamp": (0, 0, _now),
    "coalesce": (1, 99, _coalesce),
    "concat": (1, 99, _concat),
    "concat_ws": (2, 99, _concat_ws),
    "encode": (2, 2, _hex),
    "floor": (1, 1, _whole("FLOOR")),
    "greatest": (1, 99, _extreme("GREATEST")),
    "least": (1, 99, _extreme("LEAST")),
    "left": (2, 2, _side("LEFT")),
    "length": (1, 1, _length),
    "log": (1, 2, _log),
    "ltrim": (1, 2, _trim("LTRIM")),
    "mod": (2, 2, _mod),
    "mz_now": (0, 0, _mz_now),
    "now": (0, 0, _now),
    "nullif": (2, 2, _nullif),
    "right": (2, 2, _side("RIGHT")),
    "round": (1, 2, _round),
    "rtrim": (1, 2, _trim("RTRIM")),
    "sign": (1, 1, _sign),
    "split_part": (3, 3, _split_part),
    "trunc": (1, 2, _trunc),
}


@rule(exp.Encode)
def encode(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """encode(bytea, 'hex' | 'base64')."""
    return bind_call(binder, Call("encode", (node.this, node.args["charset"])), node, scope)


@rule(exp.SHA2Digest, exp.SHA2)
def sha2(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """sha256(bytea)."""
    inner = binder.bind(node.this, scope)
    if inner.type != BYTEA or node.args["length"].name != "256":
        raise binder.unsupported(node)
    return Bound(call("UNHEX", call("SHA2", inner, number(256))), BYTEA)
