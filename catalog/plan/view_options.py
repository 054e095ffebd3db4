"""What WITH says of a materialized view: when it refreshes, and when a replacement applies itself.

Options are kept as text by name, times in ms: `refresh every` (with `refresh aligned to`),
`refresh at` (times joined by commas), `refresh at creation`, `retain history`. None of them:
it refreshes on commit.
"""

from __future__ import annotations

import datetime as dt
import re

from catalog.errors import InvalidStatement
from catalog.plan.options import Options
from catalog.plan.picture import Guard
from catalog.query.intervals import milliseconds
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.replacement import CreateReplacement, SetGuard

Statement = CreateMaterializedView | CreateReplacement
GUARDS = ("APPLY WHEN HYDRATED", "MAX ROWS", "MAX PERCENT", "WINDOW", "REQUIRE APPROVAL")
_WINDOW = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")
_MOST_ROWS = 10**15


def view_options(statement: Statement) -> dict[str, str]:
    """When the view refreshes and how long its history is kept; raises InvalidStatement."""
    found: dict[str, str] = {}
    kinds = [refresh.kind for refresh in statement.refresh]
    if "on commit" in kinds and len(kinds) > 1:
        message = "REFRESH ON COMMIT is not compatible with any of the other REFRESH options"
        raise InvalidStatement(message)
    if kinds.count("every") > 1:
        raise InvalidStatement("REFRESH EVERY specified more than once", sqlstate="42601")
    for refresh in statement.refresh:
        _refresh(refresh, found)
    options = Options(statement.options, "CREATE MATERIALIZED VIEW")
    if history := options.text("RETAIN HISTORY"):
        found["retain history"] = str(_positive("RETAIN HISTORY", history))
    return found


def _refresh(refresh: Refresh, found: dict[str, str]) -> None:
    match refresh.kind:
        case "every":
            found["refresh every"] = str(_positive("REFRESH EVERY", refresh.value))
            if refresh.aligned_to:
                found["refresh aligned to"] = str(_time(refresh.aligned_to))
        case "at creation":
            found["refresh at creation"] = "true"
        case "at":
            times = [*filter(None, [found.get("refresh at")]), str(_time(refresh.value))]
            found["refresh at"] = ",".join(times)
        case _:
            pass


def _positive(name: str, interval: str) -> int:
    found = milliseconds(interval)
    if found <= 0:
        message = f"{name} interval must be positive"
        raise InvalidStatement(message)
    return found


def _time(text: str) -> int:
    if text.strip().isdecimal():
        return int(text)
    try:
        found = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        message = f'invalid input syntax for type mz_timestamp: "{text}"'
        raise InvalidStatement(message, sqlstate="22007") from None
    aware = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return round(aware.timestamp() * 1000)


def guard_of(statement: CreateReplacement | SetGuard) -> Guard | None:
    """The limits that the replacement is applied by itself within, None when a person does it.

    Raises InvalidStatement.
    """
    options = Options(statement.options, "CREATE REPLACEMENT")
    applies = options.text("APPLY WHEN HYDRATED") == "true"
    approval = options.text("REQUIRE APPROVAL") == "true"
    limits = [name for name in ("MAX ROWS", "MAX PERCENT", "WINDOW") if name in options.found]
    if limits and not (applies or approval):
        message = f"{limits[0]} has no meaning without APPLY WHEN HYDRATED"
        raise InvalidStatement(message, hint="Add APPLY WHEN HYDRATED, or leave it out.")
    rows = None
    if "MAX ROWS" in options.found:
        rows = options.integer("MAX ROWS", 0, 0, _MOST_ROWS)
    guard = Guard(rows, _percent(options), _window(options))
    return guard if applies and not approval else None


def _percent(options: Options) -> float | None:
    value = options.text("MAX PERCENT")
    if value is None:
        return None
    try:
        found = float(value)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise options.invalid("MAX PERCENT", "expected a number from 0")
    return found


def _window(options: Options) -> tuple[int, int] | None:
    value = options.text("WINDOW")
    if value is None:
        return None
    match = _WINDOW.fullmatch(value)
    numbers = [int(part) for part in match.groups()] if match else [99] * 4
    hours, minutes = numbers[::2], numbers[1::2]
    if any(hour > 24 for hour in hours) or any(minute > 59 for minute in minutes):
        hint = "It is a part of the day in UTC; the end may be on the next day."
        raise options.invalid("WINDOW", "expected 'HH:MM-HH:MM'", hint)
    start, end = (hour * 60 + minute for hour, minute in zip(hours, minutes, strict=True))
    return start % 1440, end % 1440
