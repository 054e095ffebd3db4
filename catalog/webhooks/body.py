"""A request's body as values: text, bytes, or jsonb as PostgreSQL writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from catalog.sql.nodes.webhook import BodyFormat

DEEPEST = 64
_LARGEST_EXPONENT = 1000
_SPACE = re.compile(r"[ \t\n\r]*")


class Unreadable(ValueError):
    """The body is not what the webhook says it is."""


def values(body: bytes, form: BodyFormat) -> tuple[str, ...]:
    """The texts of the column `body`, one for each row. Raises Unreadable."""
    if form == "bytes":
        return ("\\x" + body.hex(),)
    text = text_of(body, "the body")
    if form == "text":
        return (text,)
    found = list(_json_values(text))
    if form == "json array" and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    return tuple(_written(value) for value in found)


def text_of(value: bytes, what: str) -> str:
    """UTF-8 as text. Raises Unreadable."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise Unreadable(f"{what} is not UTF-8") from None  # noqa: EM102
    if "\0" in text:
        raise Unreadable(f"{what} has a NUL character")  # noqa: EM102
    return text


def jsonb(value: dict[str, str]) -> str:
    """Names and texts as jsonb."""
    return "".join(_pieces(value, 0))


def _refuse(constant: str) -> None:
    raise Unreadable("the body is not JSON")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse)


def _json_values(text: str) -> Iterator[Any]:
    """One JSON value, or several with white space between."""
    at = _end_of_space(text, 0)
    if at == len(text):
        raise Unreadable("the body is empty")
    while at < len(text):
        try:
            value, after = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError, InvalidOperation):
            raise Unreadable("the body is not JSON") from None
        yield value
        at = _end_of_space(text, after)
        if at == after < len(text):
            raise Unreadable("the body is not JSON")


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _written(value: Any) -> str:
    made = "".join(_pieces(value, 0))
    try:
        made.encode()
    except UnicodeEncodeError:
        raise Unreadable("the body has half of a surrogate pair") from None
    return made


def _pieces(value: Any, depth: int) -> Iterator[str]:
    """jsonb's text: keys by length and bytes, one space after a colon and a comma."""
    if depth > DEEPEST:
        raise Unreadable(f"the body is nested deeper than {DEEPEST}")  # noqa: EM102
    if isinstance(value, dict):
        yield "{"
        keys = sorted(value, key=lambda key: (len(key.encode("utf-8", "surrogatepass")), key))
        for number, key in enumerate(keys):
            yield (", " if number else "") + _string(key) + ": "
            yield from _pieces(value[key], depth + 1)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, member in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(member, depth + 1)
        yield "]"
    else:
        yield _scalar(value)


def _scalar(value: Any) -> str:
    match value:
        case str():
            return _string(value)
        case Decimal():
            return _number(value)
        case _:
            return {True: "true", False: "false", None: "null"}[value]


def _string(value: str) -> str:
    if "\0" in value:
        raise Unreadable("the body has a NUL character")
    return json.dumps(value, ensure_ascii=False)


def _number(value: Decimal) -> str:
    exponent = value.as_tuple().exponent
    if abs(value.adjusted()) > _LARGEST_EXPONENT or not isinstance(exponent, int):
        raise Unreadable("the body has a number that is out of range")
    shown = format(value, "f")
    return shown.removeprefix("-") if not value else shown
