"""AS OF: a time written as a number, a date and time, or now()."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from sqlglot import exp

from catalog.errors import InvalidStatement
from catalog.time.oracle import newest_time


def as_of(node: exp.Expression | None, region: str) -> int | None:
    """The mz_timestamp (ms) that AS OF names, None without one; raises InvalidStatement."""
    if node is None:
        return None
    inner = node
    while isinstance(inner, exp.Cast | exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Literal):
        return _literal(inner.name)
    if isinstance(inner, exp.CurrentTimestamp) or inner.name.lower() == "now":
        return int(timezone.now().timestamp() * 1000)
    if inner.name.lower() == "mz_now":
        return newest_time(region)
    message = f"AS OF must be a timestamp, not {inner.sql(dialect='postgres')}"
    hint = "Write milliseconds since 1970, a date and time in quotes, or now()."
    raise InvalidStatement(message, hint=hint)


def _literal(text: str) -> int:
    if text.strip().isdigit():
        return int(text)
    found = moment_of(text)
    if found is None:
        message = f'invalid input syntax for type mz_timestamp: "{text}"'
        raise InvalidStatement(message, sqlstate="22007")
    return int(found.timestamp() * 1000)


def moment_of(text: str) -> dt.datetime | None:
    """A date and time as somebody wrote it, in UTC where no zone is given; None for no such."""
    try:
        found = parse_datetime(text.strip())
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=dt.UTC)
