"""CAST and `::`: what PostgreSQL converts, as Spark must say it."""

from __future__ import annotations

import datetime as dt
import json
import uuid

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import Binder, rule
from catalog.query.build import (
    NUMERIC,
    UNKNOWN,
    Bound,
    binary,
    both,
    call,
    cast,
    fail,
    number,
    text,
    when,
)
from catalog.query.intervals import interval_constant, interval_text
from catalog.query.names import UnknownFunction, position
from catalog.query.scope import Scope
from catalog.query.types import (
    FLOATS,
    INTEGERS,
    TIMES,
    adapt,
    is_text,
    number_name,
    shape_of,
)
from ingest.contract.types import TEXT, Type

_NAMES = {
    exp.DType.VARBINARY: "bytea",
    exp.DType.TIMESTAMPTZ: "timestamp with time zone",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp",
    exp.DType.DECIMAL: "numeric",
    exp.DType.INT: "integer",
    exp.DType.FLOAT: "real",
    exp.DType.DOUBLE: "double precision",
    exp.DType.VARCHAR: "character varying",
    exp.DType.CHAR: "character",
    exp.DType.BIGINT: "bigint",
    exp.DType.SMALLINT: "smallint",
    exp.DType.NAME: "text",
}


def written_type(node: exp.DataType) -> Type:
    """The type that a cast names; raises UndefinedType (42704) for an unknown one."""
    if isinstance(node.this, exp.Interval) and node.this.args.get("unit"):
        raise NotSupported(
            "interval fields are not supported", hint="Write AS before a column's new name."
        )
    if node.this == exp.DType.ARRAY and node.expressions:
        element = written_type(node.expressions[0])
        return Type(element.name, element.precision, element.scale, array=True)
    sql = _NAMES.get(node.this) or node.sql(dialect="postgres").split("(")[0].strip('" ').lower()
    sizes = [int(p.name) for p in node.expressions if p.name.isdigit()]
    keeps = sql in ("numeric", "character varying", "character")
    modifier = f"({','.join(map(str, sizes))})" if sizes and keeps else ""
    try:
        return Type.parse(sql + modifier)
    except ValueError:
        message = f'type "{sql}" does not exist'
        raise StatementError(message, sqlstate="42704", position=position(node)) from None


@rule(exp.Cast)
def cast_(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`CAST (x AS type)`, `x::type`, `type 'literal'`."""
    to = written_type(node.args["to"])
    return coerce(binder.bind(node.this, scope), to, node, explicit=True)


def coerce(bound: Bound, to: Type, at: exp.Expr, *, explicit: bool = False) -> Bound:
    """The expression in type `to`.

    Raises UnknownFunction (42846 or 42883) where PostgreSQL has no such cast, StatementError
    (22P02) for a constant that is not of the type.
    """
    if bound.type == UNKNOWN and bound.literal is not None:
        return _constant(bound, to, at)
    if isinstance(bound.node, exp.Null):
        return Bound(cast(exp.Null(), to.spark), to)
    if bound.type == UNKNOWN:
        bound = Bound(bound.node, TEXT)
    if bound.type == to:
        return bound
    if bound.type.array or to.array:
        return _array(bound, to, at)
    for convert in (_to_text, _to_number, _to_time, _to_rest):
        found = convert(bound, to)
        if found is not None:
            return found
    message = f"cannot cast type {bound.type.sql} to {to.sql}"
    raise UnknownFunction(message, sqlstate="42846", position=position(at))


def _array(bound: Bound, to: Type, at: exp.Expr) -> Bound:
    if bound.type.array and to.array and bound.type.name == to.name:
        return Bound(bound.node, to)
    if bound.type.array and to.array:
        element = exp.to_identifier("e_")
        item = Bound(
            exp.Column(this=element), Type(bound.type.name, bound.type.precision, bound.type.scale)
        )
        body = coerce(item, Type(to.name, to.precision, to.scale), at)
        mapped = exp.Lambda(this=body.node, expressions=[element])
        return Bound(call("TRANSFORM", bound.node, mapped), to)
    message = f"cannot cast type {bound.type.sql} to {to.sql}"
    raise UnknownFunction(message, sqlstate="42846", position=position(at))


def _constant(bound: Bound, to: Type, at: exp.Expr) -> Bound:
    value = bound.literal or ""
    if to.array:
        return _array_constant(value, to, at)
    if to.name == "interval":
        return interval_constant(value, at)
    if is_text(to):
        return _to_text(Bound(bound.node, TEXT), to) or bound
    if to.name in ("json", "jsonb", "uuid"):
        return Bound(text(_checked(value, to, at)), to)
    typed = Bound(text(_moment(value.strip(), to)), TEXT)
    for convert in (_to_number, _to_time, _to_rest):
        found = convert(typed, to)
        if found is not None:
            return found
    message = f"cannot cast type text to {to.sql}"
    raise UnknownFunction(message, sqlstate="42846", position=position(at))


def _checked(value: str, to: Type, at: exp.Expr) -> str:
    try:
        if to.name == "uuid":
            return str(uuid.UUID(value))
        tidy = json.dumps(json.loads(value), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        message = f'invalid input syntax for type {to.sql}: "{value}"'
        raise StatementError(message, sqlstate="22P02", position=position(at)) from None
    return tidy if to.name == "jsonb" else value


def _moment(value: str, to: Type) -> str:
    """A date or time constant in the spelling that Spark reads; others unchanged."""
    if to.name not in TIMES:
        return value
    try:
        found = dt.datetime.fromisoformat(value)
    except ValueError:
        return value
    if to.name == "timestamp with time zone" and found.tzinfo is not None:
        found = found.astimezone(dt.UTC)
    return str(found.date() if to.name == "date" else found.replace(tzinfo=None))


def _array_constant(value: str, to: Type, at: exp.Expr) -> Bound:
    """`'{a,b}'`: flat, without quoting inside."""
    inner = value.strip()
    if not inner.startswith("{") or not inner.endswith("}") or set('"{}\\') & set(inner[1:-1]):
        message = f'malformed array literal: "{value}"'
        raise StatementError(message, sqlstate="22P02", position=position(at))
    body = inner[1:-1].strip()
    parts = [part.strip() for part in body.split(",")] if body else []
    element = Type(to.name, to.precision, to.scale)
    items = [
        Bound(cast(exp.Null(), element.spark), element)
        if part.lower() == "null"
        else coerce(Bound(text(part), UNKNOWN, literal=part), element, at)
        for part in parts
    ]
    array = call("ARRAY", *items)
    return Bound(array if items else cast(array, to.spark), to)


def _to_text(bound: Bound, to: Type) -> Bound | None:
    if not is_text(to):
        return None
    node = as_text(bound)
    if to.precision is not None:
        node = call("SUBSTRING", node, number(1), number(to.precision))
    elif to.name == "character":
        node = call("SUBSTRING", node, number(1), number(1))
    return Bound(node, to)


def as_text(bound: Bound) -> exp.Expr:
    """The value's text as PostgreSQL prints it."""
    name = bound.type.name
    if is_text(bound.type) or name in ("json", "jsonb", "uuid", "unknown", "time"):
        return bound.node
    if name == "timestamp with time zone":
        return call("CONCAT", cast(bound.node, "string"), text("+00"))
    if name == "interval":
        return interval_text(bound)
    if name in FLOATS:
        return _float_text(bound.node)
    if name == "numeric" and (bound.shape or shape_of(bound.type)) == (38, 18):
        trimmed = call(
            "REGEXP_REPLACE", cast(bound.node, "string"), text(r"(\.\d*?)0+$"), text("$1")
        )
        return call("REGEXP_REPLACE", trimmed, text(r"\.$"), text(""))
    if name == "bytea":
        return call("CONCAT", text("\\x"), call("LOWER", call("HEX", bound.node)))
    return cast(bound.node, "string")


def _float_text(node: exp.Expr) -> exp.Expr:
    """Shortest digits; refused at run time where Spark would write an exponent."""
    size = call("ABS", node)
    whole = both(
        binary(exp.EQ, node, call("FLOOR", node)), binary(exp.LT, size, exp.Literal.number("1e15"))
    )
    inside = both(
        binary(exp.GTE, size, exp.Literal.number("1e-3")),
        binary(exp.LT, size, exp.Literal.number("1e7")),
    )
    special = call("ISNAN", node)
    return when(
        (exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Null()), exp.Null()),
        (special, text("NaN")),
        (whole, cast(cast(node, "bigint"), "string")),
        (inside, cast(node, "string")),
        other=fail("text of a double precision value this large or small is not supported yet"),
    )


def _to_number(bound: Bound, to: Type) -> Bound | None:
    target = number_name(to)
    if target is None:
        return None
    source = number_name(bound.type)
    if is_text(bound.type):
        trimmed = call("TRIM", bound.node)
        return Bound(cast(trimmed, to.spark), to, shape_of(to) if target == "numeric" else None)
    if bound.type.name == "boolean" and target == "integer":
        return Bound(cast(bound.node, "int"), to)
    if bound.type.name in ("json", "jsonb"):
        return _json_number(bound, to)
    return _between_numbers(bound, to, source, target) if source else None


def _between_numbers(bound: Bound, to: Type, source: str, target: str) -> Bound:
    if target in INTEGERS and source not in INTEGERS:
        rounding = "BROUND" if source in FLOATS else "ROUND"
        return Bound(cast(call(rounding, bound.node, number(0)), to.spark), to)
    if to == NUMERIC and source in INTEGERS:
        return adapt(bound, to)
    if to == NUMERIC and source == "numeric":
        return Bound(bound.node, to, bound.shape or shape_of(bound.type))
    return Bound(cast(bound.node, to.spark), to, shape_of(to) if target == "numeric" else None)


def _json_number(bound: Bound, to: Type) -> Bound:
    """jsonb to a number: only from a JSON number."""
    shown = when(
        (
            call("REGEXP_LIKE", bound.node, text('^["tfn\\[{]')),
            fail("cannot cast jsonb value to a number"),
        ),
        other=bound.node,
    )
    decimal = Bound(cast(shown, "decimal(38,18)"), NUMERIC, (38, 18))
    if to.name in FLOATS:
        return Bound(cast(shown, to.spark), to)
    return _to_number(decimal, to) or decimal


def _to_time(bound: Bound, to: Type) -> Bound | None:
    if to.name not in TIMES:
        return None
    if is_text(bound.type):
        return Bound(cast(call("TRIM", bound.node), to.spark), to)
    if bound.type.name in TIMES:
        return Bound(cast(bound.node, to.spark), to)
    if bound.type.name == "mz_timestamp" and to.name != "date":
        moment = call("TIMESTAMP_MILLIS", bound.node)
        return Bound(cast(moment, to.spark), to)
    return None


_TRUE = ("t", "true", "y", "yes", "on", "1")
_FALSE = ("f", "false", "n", "no", "off", "0")


def _to_rest(bound: Bound, to: Type) -> Bound | None:
    source, target = bound.type.name, to.name
    if target == "boolean":
        return _to_boolean(bound, to)
    if target in ("json", "jsonb") and (is_text(bound.type) or source in ("json", "jsonb")):
        node = call("TO_JSON", call("PARSE_JSON", bound.node)) if target == "jsonb" else bound.node
        return Bound(bound.node if source == "jsonb" else node, to)
    if target == "uuid" and is_text(bound.type):
        pattern = text("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
        value = when(
            (exp.Not(this=call("REGEXP_LIKE", bound.node, pattern)), fail("invalid uuid")),
            other=call("LOWER", bound.node),
        )
        return Bound(value, to)
    if target == "bytea" and is_text(bound.type) and bound.node.is_string:
        return Bound(call("ENCODE", bound.node, text("UTF-8")), to)
    return None


def _to_boolean(bound: Bound, to: Type) -> Bound | None:
    if bound.type.name == "integer":
        return Bound(binary(exp.NEQ, bound.node, number(0)), to)
    if bound.type.name in ("json", "jsonb"):
        return Bound(cast(bound.node, "boolean"), to)
    if not is_text(bound.type):
        return None
    value = call("LOWER", call("TRIM", bound.node))
    nothing = exp.Is(this=exp.Paren(this=bound.node.copy()), expression=exp.Null())
    return Bound(
        when(
            (nothing, exp.Null()),
            (exp.In(this=value.copy(), expressions=[text(t) for t in _TRUE]), exp.true()),
            (exp.In(this=value.copy(), expressions=[text(t) for t in _FALSE]), exp.false()),
            other=cast(fail("invalid input syntax for type boolean"), "boolean"),
        ),
        to,
    )
