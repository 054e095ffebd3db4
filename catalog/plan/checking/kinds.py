"""Kinds of values in a check, and how one becomes another."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

Kind = Literal[
    "text",
    "bytea",
    "boolean",
    "number",
    "timestamp",
    "interval",
    "jsonb",
    "map",
    "byte map",
    "null",
]
_UNITS = {
    "ms": 0.001,
    "millisecond": 0.001,
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
    "week": 604_800,
}
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)
_CLOCK = re.compile(r"(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
_KINDS: dict[str, Kind] = {
    "text": "text",
    "character varying": "text",
    "character": "text",
    "bytea": "bytea",
    "boolean": "boolean",
    "smallint": "number",
    "integer": "number",
    "bigint": "number",
    "uint4": "number",
    "uint8": "number",
    "numeric": "number",
    "real": "number",
    "double precision": "number",
    "timestamp": "timestamp",
    "timestamp with time zone": "timestamp",
    "interval": "interval",
    "jsonb": "jsonb",
    "json": "jsonb",
}


class Unfit(ValueError):
    """A value that a function or a cast cannot take; the request is refused."""


def kind_of(type_name: str) -> Kind | None:
    """The kind that a type's values have here, None for a type that checks do not have."""
    return _KINDS.get(type_name)


def number(text: str) -> Decimal:
    """A number from text. Raises Unfit."""
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        raise Unfit("invalid input syntax for a number") from None
    if not found.is_finite() or found.adjusted() > 40:
        raise Unfit("number out of range")
    return found


def interval(text: str) -> dt.timedelta:
    """A length of time such as `5 minutes` or `00:05:00`. Raises Unfit."""
    clock = _CLOCK.fullmatch(text.strip())
    if clock:
        hours, minutes, seconds = clock[1], clock[2], clock[3] or "0"
        return dt.timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        unit = part[2].lower() if part else ""
        factor = _UNITS.get(unit, _UNITS.get(unit.removesuffix("s")))
        if part is None or factor is None:
            raise Unfit("invalid input syntax for type interval")
        total, at = total + float(part[1]) * factor, part.end()
    return dt.timedelta(seconds=total)


def timestamp(text: str) -> dt.datetime:
    """A moment from ISO 8601; UTC where no zone is said. Raises Unfit."""
    try:
        found = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise Unfit("invalid input syntax for type timestamp") from None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in {"t", "true", "yes", "on", "1"}:
        return True
    if word in {"f", "false", "no", "off", "0"}:
        return False
    raise Unfit("invalid input syntax for type boolean")


def _bytes(text: str) -> bytes:
    if not text.startswith("\\x"):
        return text.encode()
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise Unfit("invalid hexadecimal data") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal, parse_int=Decimal)
    except (ValueError, RecursionError, InvalidOperation):
        raise Unfit("invalid input syntax for type json") from None


def shown(value: Any) -> str:
    """A value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


_FROM_TEXT: dict[Kind, Callable[[str], Any]] = {
    "number": number,
    "interval": interval,
    "timestamp": timestamp,
    "boolean": _boolean,
    "bytea": _bytes,
    "jsonb": _json,
}


def cast(value: Any, source: Kind, target: Kind) -> Any:
    """The value as another kind. Raises Unfit."""
    if source == target:
        return value
    if target == "text":
        return shown(value)
    if source == "jsonb" and target in {"number", "boolean"}:
        return _FROM_TEXT[target](shown(value))
    return _FROM_TEXT[target](value)


def castable(source: Kind, target: Kind) -> bool:
    """Whether `cast` knows the way."""
    if source == target or source in {"text", "null"}:
        return True
    if target == "text":
        return source not in {"map", "byte map"}
    return source == "jsonb" and target in {"number", "boolean"}
