"""Intervals: of months, or of days and time; Spark keeps the two apart, and so do we."""

from __future__ import annotations

import re

from sqlglot import exp

from catalog.errors import NotSupported, StatementError
from catalog.query.build import INTERVAL, Bound, binary, call, cast, number, text, when
from catalog.query.names import position

_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_CLOCK = re.compile(r"^\s*([+-]?)(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*$")
_MONTHS = {"month": 1, "mon": 1, "year": 12, "y": 12, "yr": 12, "decade": 120, "century": 1200}
_MICROS = {
    "microsecond": 1,
    "us": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": 1_000_000,
    "sec": 1_000_000,
    "s": 1_000_000,
    "minute": 60_000_000,
    "min": 60_000_000,
    "m": 60_000_000,
    "hour": 3_600_000_000,
    "h": 3_600_000_000,
    "hr": 3_600_000_000,
    "day": 86_400_000_000,
    "d": 86_400_000_000,
    "week": 604_800_000_000,
    "w": 604_800_000_000,
}


def interval_constant(value: str, at: exp.Expr) -> Bound:
    """An interval from PostgreSQL's text; raises StatementError (22007) when it is not one.

    Raises NotSupported for months and time in one interval.
    """
    months, micros = _parse(value, at)
    if months and micros:
        raise NotSupported(
            "intervals of months and of time cannot be mixed", position=position(at)
        )
    if months:
        spelled = exp.Interval(this=text(str(months)), unit=exp.Var(this="MONTH"))
        return Bound(spelled, INTERVAL, months=True)
    return Bound(_seconds(micros), INTERVAL)


def _seconds(micros: int) -> exp.Expr:
    days, rest = divmod(abs(micros), 86_400_000_000)
    seconds, fraction = divmod(rest, 1_000_000)
    minutes, second = divmod(seconds, 60)
    sign = "-" if micros < 0 else ""
    spelled = f"{sign}{days} {minutes // 60:02d}:{minutes % 60:02d}:{second:02d}.{fraction:06d}"
    span = exp.IntervalSpan(this=exp.Var(this="DAY"), expression=exp.Var(this="SECOND"))
    return exp.Interval(this=text(spelled), unit=span)


def milliseconds(value: str) -> int:
    """The length of an interval of days and time; raises StatementError (22007)."""
    months, micros = _parse(value, exp.Literal.string(value))
    if months:
        message = f'interval must not contain months or years: "{value}"'
        raise StatementError(message, sqlstate="22007")
    return micros // 1000


def _parse(value: str, at: exp.Expr) -> tuple[int, int]:
    months = micros = 0
    rest = value.strip()
    while rest:
        clock = _CLOCK.match(rest)
        if clock:
            micros += _clock(clock)
            break
        part = _PART.match(rest)
        unit = part[2].lower() if part else ""
        unit = unit if unit in _MICROS or unit in _MONTHS else unit.rstrip("s")
        unit = "century" if unit == "centurie" else unit
        if part is None or (unit not in _MICROS and unit not in _MONTHS):
            message = f'invalid input syntax for type interval: "{value}"'
            raise StatementError(message, sqlstate="22007", position=position(at))
        if unit in _MONTHS:
            months += round(float(part[1]) * _MONTHS[unit])
        else:
            micros += round(float(part[1]) * _MICROS[unit])
        rest = rest[part.end() :]
    return months, micros


def _clock(match: re.Match[str]) -> int:
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + float(match[4] or 0)
    return round(seconds * 1_000_000) * (-1 if match[1] == "-" else 1)


def interval_text(bound: Bound) -> exp.Expr:
    """The interval as PostgreSQL prints it: `1 year 2 mons` or `3 days 04:05:06.7`."""
    return _months_text(bound.node) if bound.months else _time_text(bound.node)


def micros_of(node: exp.Expr) -> exp.Expr:
    """Microseconds in a day-time interval, exactly."""
    epoch = exp.Paren(this=exp.Add(this=_origin(), expression=node.copy()))
    return call("UNIX_MICROS", epoch)


def _origin() -> exp.Expr:
    return cast(text("1970-01-01 00:00:00+00:00"), "timestamp")


def _time_text(node: exp.Expr) -> exp.Expr:
    micros = micros_of(node)
    day = number(86_400_000_000)
    days = binary(exp.IntDiv, micros, day)
    rest = call("ABS", binary(exp.Mod, micros, day))
    sign = when(
        (binary(exp.LT, binary(exp.Mod, micros, day), number(0)), text("-")), other=text("")
    )
    hours = binary(exp.IntDiv, rest, number(3_600_000_000))
    minutes = binary(exp.Mod, binary(exp.IntDiv, rest, number(60_000_000)), number(60))
    seconds = binary(exp.Mod, binary(exp.IntDiv, rest, number(1_000_000)), number(60))
    fraction = binary(exp.Mod, rest, number(1_000_000))
    two = text("0")
    clock = call(
        "CONCAT",
        sign,
        call("LPAD", cast(hours, "string"), number(2), two),
        text(":"),
        call("LPAD", cast(minutes, "string"), number(2), two),
        text(":"),
        call("LPAD", cast(seconds, "string"), number(2), two),
        when(
            (binary(exp.EQ, fraction, number(0)), text("")),
            other=call(
                "RTRIM",
                text("0"),
                call("CONCAT", text("."), call("LPAD", cast(fraction, "string"), number(6), two)),
            ),
        ),
    )
    plural = when((binary(exp.EQ, days, number(1)), text(" day")), other=text(" days"))
    shown_days = call("CONCAT", cast(days, "string"), plural)
    return when(
        (exp.Is(this=micros, expression=exp.Null()), exp.Null()),
        (binary(exp.EQ, days, number(0)), clock),
        (binary(exp.EQ, rest, number(0)), shown_days),
        other=call("CONCAT", shown_days, text(" "), clock),
    )


def _months_text(node: exp.Expr) -> exp.Expr:
    count = cast(cast(node, "interval month"), "int")
    years, rest = binary(exp.IntDiv, count, number(12)), binary(exp.Mod, count, number(12))

    def named(value: exp.Expr, word: str) -> exp.Expr:
        plural = when(
            (binary(exp.EQ, value, number(1)), text(f" {word}")), other=text(f" {word}s")
        )
        shown = call("CONCAT", cast(value, "string"), plural)
        return when((binary(exp.NEQ, value, number(0)), shown))

    return call("CONCAT_WS", text(" "), named(years, "year"), named(rest, "mon"))
