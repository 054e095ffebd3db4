"""The functions and operators that a check may use, by name and kinds of arguments.

All of them give null for a null argument.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero
from typing import Any

from catalog.plan.checking.kinds import Kind, Unfit, shown

_HASHES = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}
_LONGEST_PATTERN = 200


@dataclass(frozen=True)
class Function:
    """One way to call a name: kinds of its arguments, kind of its result, and what it does."""

    takes: tuple[Kind, ...]
    gives: Kind
    run: Callable[..., Any]


def _hash_name(name: str) -> str:
    found = name.lower()
    if found not in _HASHES:
        raise Unfit("no such hash algorithm")
    return found


def _mac(data: str | bytes, key: str | bytes, name: str) -> bytes:
    return hmac.new(_raw(key), _raw(data), _hash_name(name)).digest()


def _digest(data: str | bytes, name: str) -> bytes:
    return hashlib.new(_hash_name(name), _raw(data)).digest()


def _raw(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def same(left: str | bytes, right: str | bytes) -> bool:
    """Whether two values are equal; takes as long whatever their first difference is."""
    return hmac.compare_digest(_raw(left), _raw(right))


def _encode(value: bytes, form: str) -> str:
    match form.lower():
        case "hex":
            return value.hex()
        case "base64":
            return base64.b64encode(value).decode()
        case "escape":
            shown = (chr(b) if 32 <= b < 127 and b != 92 else f"\\{b:03o}" for b in value)
            return "".join(shown).replace("\\134", "\\\\")
        case _:
            raise Unfit("unrecognized encoding")


def _decode(text: str, form: str) -> bytes:
    try:
        match form.lower():
            case "hex":
                return bytes.fromhex(text)
            case "base64":
                return base64.b64decode(re.sub(r"\s", "", text), validate=True)
            case _:
                raise Unfit("unrecognized encoding")
    except (ValueError, binascii.Error) as error:
        if isinstance(error, Unfit):
            raise
        raise Unfit("invalid encoded data") from None


def _text(value: bytes, encoding: str) -> str:
    if encoding.lower().replace("-", "") != "utf8":
        raise Unfit("invalid encoding name")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Unfit("invalid byte sequence for encoding UTF8") from None


def _split(text: str, by: str, number: Decimal) -> str:
    parts = text.split(by) if by else [text]
    index = int(number)
    if index == 0:
        raise Unfit("field position must not be zero")
    index = index - 1 if index > 0 else len(parts) + index
    return parts[index] if 0 <= index < len(parts) else ""


def _substring(text: str | bytes, start: Decimal, length: Decimal | None = None) -> str | bytes:
    first = int(start) - 1
    last = len(text) if length is None else first + int(length)
    if length is not None and length < 0:
        raise Unfit("negative substring length not allowed")
    return text[max(0, first) : max(0, last)]


def _left(text: str, count: Decimal) -> str:
    return text[: int(count)]


def _right(text: str, count: Decimal) -> str:
    number = int(count)
    return text[-number:] if number > 0 else text[-number:] if number else ""


def _like(text: str, pattern: str, *, fold: bool = False) -> bool:
    words = {"%": ".*", "_": "."}
    parts = re.findall(r"\\.|.", pattern[:_LONGEST_PATTERN], re.DOTALL)
    made = "".join(words.get(part, re.escape(part[-1])) for part in parts)
    made = re.sub(r"(?:\.\*)+", ".*", made)
    return re.fullmatch(made, text, re.DOTALL | (re.IGNORECASE if fold else 0)) is not None


def _ilike(text: str, pattern: str) -> bool:
    return _like(text, pattern, fold=True)


def _divide(left: Decimal, right: Decimal) -> Decimal:
    try:
        return left / right
    except (DivisionByZero, ArithmeticError):
        raise Unfit("division by zero") from None


def _from_epoch(seconds: Decimal) -> dt.datetime:
    try:
        return dt.datetime.fromtimestamp(float(seconds), tz=dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise Unfit("timestamp out of range") from None


def _date_part(part: str, moment: dt.datetime) -> Decimal:
    if part.lower() != "epoch":
        raise Unfit("only epoch can be extracted in a CHECK")
    return Decimal(str(moment.timestamp()))


def _member(value: Any, key: str | Decimal) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, Decimal):
        index = int(key)
        return value[index] if -len(value) <= index < len(value) else None
    return None


def _member_text(value: Any, key: str | Decimal) -> str | None:
    found = _member(value, key)
    return None if found is None else found if isinstance(found, str) else shown(found)


def _alike(name: str, gives: Kind, run: Callable[..., Any], *kinds: Kind) -> list[_Named]:
    return [(name, Function((kind, kind), gives, run)) for kind in kinds]


_Named = tuple[str, Function]
_COMPARED: tuple[Kind, ...] = ("text", "bytea", "number", "timestamp", "interval", "boolean")
_EITHER: tuple[Kind, Kind] = ("text", "bytea")


def _both(name: str, gives: Kind, run: Callable[..., Any], *rest: Kind) -> list[_Named]:
    """A function whose first argument is text or bytes."""
    return [(name, Function((kind, *rest), gives, run)) for kind in _EITHER]


_ALL: list[_Named] = [
    *(("hmac", Function((d, k, "text"), "bytea", _mac)) for d in _EITHER for k in _EITHER),
    *_both("digest", "bytea", _digest, "text"),
    *_both("sha224", "bytea", lambda data: _digest(data, "sha224")),
    *_both("sha256", "bytea", lambda data: _digest(data, "sha256")),
    *_both("sha384", "bytea", lambda data: _digest(data, "sha384")),
    *_both("sha512", "bytea", lambda data: _digest(data, "sha512")),
    *_both("md5", "text", lambda data: _digest(data, "md5").hex()),
    *_alike("constant_time_eq", "boolean", same, "text", "bytea"),
    ("encode", Function(("bytea", "text"), "text", _encode)),
    ("decode", Function(("text", "text"), "bytea", _decode)),
    ("convert_from", Function(("bytea", "text"), "text", _text)),
    ("convert_to", Function(("text", "text"), "bytea", lambda value, _: value.encode())),
    ("lower", Function(("text",), "text", str.lower)),
    ("upper", Function(("text",), "text", str.upper)),
    ("trim", Function(("text",), "text", lambda text: text.strip(" "))),
    ("btrim", Function(("text",), "text", lambda text: text.strip(" "))),
    ("btrim", Function(("text", "text"), "text", lambda text, of: text.strip(of))),
    ("ltrim", Function(("text",), "text", lambda text: text.lstrip(" "))),
    ("ltrim", Function(("text", "text"), "text", lambda text, of: text.lstrip(of))),
    ("rtrim", Function(("text",), "text", lambda text: text.rstrip(" "))),
    ("rtrim", Function(("text", "text"), "text", lambda text, of: text.rstrip(of))),
    ("length", Function(("text",), "number", lambda text: Decimal(len(text)))),
    *_both("octet_length", "number", lambda value: Decimal(len(_raw(value)))),
    ("split_part", Function(("text", "text", "number"), "text", _split)),
    ("replace", Function(("text",) * 3, "text", lambda text, old, new: text.replace(old, new))),
    ("left", Function(("text", "number"), "text", _left)),
    ("right", Function(("text", "number"), "text", _right)),
    ("substring", Function(("text", "number"), "text", _substring)),
    ("substring", Function(("text", "number", "number"), "text", _substring)),
    ("substring", Function(("bytea", "number", "number"), "bytea", _substring)),
    ("starts_with", Function(("text", "text"), "boolean", str.startswith)),
    ("strpos", Function(("text", "text"), "number", lambda text, of: Decimal(text.find(of) + 1))),
    ("to_timestamp", Function(("number",), "timestamp", _from_epoch)),
    ("date_part", Function(("text", "timestamp"), "number", _date_part)),
    ("abs", Function(("number",), "number", abs)),
    ("negate", Function(("number",), "number", lambda value: -value)),
    ("+", Function(("number", "number"), "number", lambda a, b: a + b)),
    ("-", Function(("number", "number"), "number", lambda a, b: a - b)),
    ("*", Function(("number", "number"), "number", lambda a, b: a * b)),
    ("/", Function(("number", "number"), "number", _divide)),
    ("+", Function(("timestamp", "interval"), "timestamp", lambda a, b: a + b)),
    ("-", Function(("timestamp", "interval"), "timestamp", lambda a, b: a - b)),
    ("-", Function(("timestamp", "timestamp"), "interval", lambda a, b: a - b)),
    ("||", Function(("text", "text"), "text", lambda a, b: a + b)),
    ("||", Function(("bytea", "bytea"), "bytea", lambda a, b: a + b)),
    ("like", Function(("text", "text"), "boolean", _like)),
    ("ilike", Function(("text", "text"), "boolean", _ilike)),
    ("->", Function(("map", "text"), "text", dict.get)),
    ("->>", Function(("map", "text"), "text", dict.get)),
    ("->", Function(("byte map", "text"), "bytea", dict.get)),
    ("?", Function(("map", "text"), "boolean", lambda value, key: key in value)),
    ("?", Function(("jsonb", "text"), "boolean", lambda value, key: key in value)),
    ("->", Function(("jsonb", "text"), "jsonb", _member)),
    ("->", Function(("jsonb", "number"), "jsonb", _member)),
    ("->>", Function(("jsonb", "text"), "text", _member_text)),
    ("->>", Function(("jsonb", "number"), "text", _member_text)),
    *_alike("=", "boolean", lambda a, b: same(a, b), "text", "bytea"),
    *_alike("=", "boolean", lambda a, b: a == b, *_COMPARED[2:]),
    *_alike("<>", "boolean", lambda a, b: not same(a, b), "text", "bytea"),
    *_alike("<>", "boolean", lambda a, b: a != b, *_COMPARED[2:]),
    *_alike("<", "boolean", lambda a, b: a < b, *_COMPARED),
    *_alike(">", "boolean", lambda a, b: a > b, *_COMPARED),
    *_alike("<=", "boolean", lambda a, b: a <= b, *_COMPARED),
    *_alike(">=", "boolean", lambda a, b: a >= b, *_COMPARED),
]

FUNCTIONS: dict[str, tuple[Function, ...]] = {}
for _name, _function in _ALL:
    FUNCTIONS[_name] = (*FUNCTIONS.get(_name, ()), _function)
