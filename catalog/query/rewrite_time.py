"""Dates and times: extract, date_trunc, AT TIME ZONE, to_char, now(), mz_now()."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.binder import Binder, rule
from catalog.query.build import (
    DATE,
    DOUBLE,
    NUMERIC,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    Bound,
    binary,
    call,
    cast,
    number,
    text,
)
from catalog.query.casts import coerce
from catalog.query.intervals import interval_constant, micros_of
from catalog.query.names import UnknownFunction, position
from catalog.query.scope import Scope
from catalog.query.types import TIMES, is_text
from ingest.contract.types import MZ_TIMESTAMP, TEXT

_PARTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEKOFYEAR",
    "DAY": "DAY",
    "DOY": "DAYOFYEAR",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
}
_TRUNCATED = frozenset(
    {"MICROSECONDS", "MILLISECONDS", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH"}
    | {"QUARTER", "YEAR"}
)


def now_constant(binder: Binder) -> Bound:
    """now(): the wall clock when the query began."""
    stamp = binder.moment.now.strftime("%Y-%m-%d %H:%M:%S.%f+00:00")
    return Bound(cast(text(stamp), "timestamp"), TIMESTAMPTZ)


@rule(exp.CurrentTimestamp, exp.Localtimestamp, exp.CurrentDate)
def now(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """now(), CURRENT_TIMESTAMP, LOCALTIMESTAMP, CURRENT_DATE, in UTC."""
    at = now_constant(binder)
    if isinstance(node, exp.Localtimestamp):
        return coerce(at, TIMESTAMP, node)
    return coerce(at, DATE, node) if isinstance(node, exp.CurrentDate) else at


def mz_now(binder: Binder) -> Bound:
    """mz_now(): the time the query reads at, ms."""
    return Bound(cast(text(str(binder.moment.mz_now)), "bigint"), MZ_TIMESTAMP)


def moment_of(bound: Bound, node: exp.Expr, what: str) -> Bound:
    """A date or timestamp operand; raises UnknownFunction for another type."""
    if bound.type == UNKNOWN:
        return coerce(bound, TIMESTAMPTZ, node)
    if bound.type.name not in TIMES or bound.type.array:
        message = f"function {what}({bound.type.sql}) does not exist"
        raise UnknownFunction(message, position=position(node))
    return bound


@rule(exp.Extract)
def extract(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """EXTRACT (part FROM x) and date_part."""
    part = node.this.name.upper().removesuffix("S") if node.this.name != "DOS" else ""
    inner = binder.bind(node.expression, scope)
    if inner.type.name == "interval":
        return _from_interval(part, inner, binder, node)
    moment = moment_of(inner, node, "extract")
    if part in _PARTS:
        return _whole(call(_PARTS[part], moment))
    if part in ("DOW", "ISODOW", "WEEKDAY"):
        return _day_of_week(part, moment)
    if part in ("EPOCH", "SECOND", "MILLISECOND", "MICROSECOND"):
        return _precise(part, moment)
    raise binder.unsupported(node)


def _whole(node: exp.Expr) -> Bound:
    return Bound(cast(node, "decimal(10,0)"), NUMERIC, (10, 0))


def _day_of_week(part: str, moment: Bound) -> Bound:
    if part == "ISODOW":
        return _whole(binary(exp.Add, call("WEEKDAY", moment), number(1)))
    return _whole(binary(exp.Sub, call("DAYOFWEEK", moment), number(1)))


def _micros(moment: Bound) -> exp.Expr:
    return call("UNIX_MICROS", cast(moment.node, "timestamp"))


def _precise(part: str, moment: Bound) -> Bound:
    micros = _micros(moment)
    if part != "EPOCH":
        minute = number(60_000_000)
        micros = call("PMOD", micros, minute)
    if part == "MICROSECOND":
        return _whole(micros)
    divisor = {"EPOCH": 6, "SECOND": 6, "MILLISECOND": 3}[part]
    exact = binary(
        exp.Mul,
        cast(micros, "decimal(20,0)"),
        cast(text(f"0.{'0' * (divisor - 1)}1"), f"decimal({divisor},{divisor})"),
    )
    return Bound(cast(exact, f"decimal(26,{divisor})"), NUMERIC, (26, divisor))


def _from_interval(part: str, inner: Bound, binder: Binder, node: exp.Expr) -> Bound:
    if part == "EPOCH" and not inner.months:
        exact = binary(
            exp.Mul,
            cast(micros_of(inner.node), "decimal(20,0)"),
            cast(text("0.000001"), "decimal(6,6)"),
        )
        return Bound(exact, NUMERIC, (27, 6))
    raise binder.unsupported(node)


@rule(exp.TimestampTrunc)
def date_trunc(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """date_trunc('unit', x)."""
    unit = node.args["unit"].name.upper() if node.args.get("unit") else ""
    unit = unit.split("(")[0]
    inner = moment_of(binder.bind(node.this, scope), node, "date_trunc")
    if inner.type == DATE:
        inner = coerce(inner, TIMESTAMPTZ, node)
    if unit not in _TRUNCATED:
        message = f'unit "{unit.lower()}" not supported for date_trunc'
        raise StatementError(message, position=position(node))
    cut = call("DATE_TRUNC", text(unit), inner)
    return Bound(cast(cut, inner.type.spark), inner.type)


@rule(exp.AtTimeZone)
def at_time_zone(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`x AT TIME ZONE 'zone'`: zoned becomes local, local becomes zoned."""
    inner = binder.bind(node.this, scope)
    zone = binder.bind(node.args["zone"], scope)
    if zone.literal is None:
        raise NotSupported("the time zone must be a constant", position=position(node))
    moment = moment_of(inner, node, "timezone")
    if moment.type == TIMESTAMPTZ:
        local = call("FROM_UTC_TIMESTAMP", cast(moment.node, "timestamp"), zone)
        return Bound(cast(local, "timestamp_ntz"), TIMESTAMP)
    unzoned = coerce(moment, TIMESTAMP, node)
    return Bound(call("TO_UTC_TIMESTAMP", cast(unzoned.node, "timestamp"), zone), TIMESTAMPTZ)


@rule(exp.Interval)
def interval(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """`INTERVAL '1 day'`."""
    value = node.this
    if not isinstance(value, exp.Literal):
        raise binder.unsupported(node)
    unit = node.args.get("unit")
    written = f"{value.name} {unit.name.lower()}" if unit else value.name
    return interval_constant(written, node)


_FORMATS = (
    ("%Y", "yyyy"),
    ("%m", "MM"),
    ("%d", "dd"),
    ("%H", "HH"),
    ("%I", "hh"),
    ("%M", "mm"),
    ("%S", "ss"),
    ("%p", "a"),
    ("%f", "SSSSSS"),
)


@rule(exp.TimeToStr)
def to_char(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """to_char(timestamp, format) for the patterns that both sides spell exactly."""
    moment = moment_of(binder.bind(node.this, scope), node, "to_char")
    pattern = node.args.get("format")
    if not isinstance(pattern, exp.Literal):
        raise NotSupported("the format of to_char must be a constant", position=position(node))
    rest, java = pattern.name, pattern.name
    for short, long in _FORMATS:
        rest, java = rest.replace(short, ""), java.replace(short, long)
    if any(c.isalpha() or c in "%'#[]{}\"" for c in rest):
        raise NotSupported("this format of to_char is not supported yet", position=position(node))
    return Bound(call("DATE_FORMAT", cast(moment.node, "timestamp"), text(java)), TEXT)


@rule(exp.UnixToTime)
def to_timestamp(binder: Binder, node: exp.Expr, scope: Scope) -> Bound:
    """to_timestamp(seconds)."""
    inner = binder.bind(node.this, scope)
    if is_text(inner.type):
        raise binder.unsupported(node)
    micros = binary(exp.Mul, coerce(inner, DOUBLE, node).node, exp.Literal.number("1e6"))
    return Bound(
        call("TIMESTAMP_MICROS", cast(call("ROUND", micros, number(0)), "bigint")), TIMESTAMPTZ
    )
