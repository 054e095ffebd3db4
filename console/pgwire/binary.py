"""Single values in PostgreSQL's binary form, from and to their text."""

from __future__ import annotations

import datetime as dt
import re
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal

from catalog.text_values import array_text, float_text
from console.pgwire.messages import Fields, ProtocolViolation
from ingest.contract.types import Type

EPOCH_DAYS = 10_957
"""Days from 1970 to 2000, where PostgreSQL counts from."""
EPOCH_MICROSECONDS = EPOCH_DAYS * 86_400_000_000

_EPOCH = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - a count of microseconds, in no zone
_SPECIAL = {"NaN": 0xC000, "Infinity": 0xD000, "-Infinity": 0xF000}
_SIGN_OF = {sign: text for text, sign in _SPECIAL.items()}
_MONTHS = {"year": 12, "mon": 1}
_PART = re.compile(r"([+-]?\d+) (year|mon|day)s?")
_CLOCK = re.compile(r"([+-]?)(\d+):(\d+):(\d+)(?:\.(\d+))?$")
_BUFFERS = {
    "bigint": struct.Struct("!q"),
    "smallint": struct.Struct("!h"),
    "integer": struct.Struct("!i"),
    "oid": struct.Struct("!I"),
    "uint4": struct.Struct("!I"),
    "uint8": struct.Struct("!Q"),
    "mz_timestamp": struct.Struct("!Q"),
    "real": struct.Struct("!f"),
    "double precision": struct.Struct("!d"),
}
NUMBERS: dict[str, struct.Struct] = _BUFFERS
"""Types whose binary form is one number of a fixed size."""


def numeric(text: str) -> bytes:
    """A numeric: groups of four decimal digits."""
    if text in _SPECIAL:
        return struct.pack("!hhHH", 0, 0, _SPECIAL[text], 0)
    sign = 0x4000 if text.startswith("-") else 0
    whole, _, fraction = format(Decimal(text), "f").lstrip("-").partition(".")
    scale = len(fraction)
    digits = whole.rjust(-(-len(whole) // 4) * 4, "0") + fraction.ljust(-(-scale // 4) * 4, "0")
    groups = [int(digits[at : at + 4]) for at in range(0, len(digits), 4)]
    weight = -(-len(whole) // 4) - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!hhHH", len(groups), weight if groups else 0, sign, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)


def interval(text: str) -> bytes:
    """An interval such as `1 year 2 mons -3 days 04:05:06.789`."""
    months = days = microseconds = 0
    for count, unit in _PART.findall(text):
        if unit == "day":
            days += int(count)
        else:
            months += int(count) * _MONTHS[unit]
    clock = _CLOCK.search(text)
    if clock:
        seconds = int(clock[2]) * 3600 + int(clock[3]) * 60 + int(clock[4])
        microseconds = seconds * 1_000_000 + int((clock[5] or "").ljust(6, "0")[:6])
        microseconds *= -1 if clock[1] == "-" else 1
    return struct.pack("!qii", microseconds, days, months)


FROM_TEXT: dict[str, Callable[[str], bytes]] = {
    "numeric": numeric,
    "interval": interval,
    "uuid": lambda text: uuid.UUID(text).bytes,
    "jsonb": lambda text: b"\1" + text.encode(),
}
"""Binary forms that are made from the text; every other type's is the text itself."""


def to_text(raw: bytes, type_: Type) -> str:
    """A parameter in binary form as text. Raises ProtocolViolation for bytes of another type."""
    try:
        if type_.array:
            return _array(raw, Type(type_.name))
        if type_.name in _BUFFERS:
            return _number(raw, type_.name)
        return _TO_TEXT.get(type_.name, bytes.decode)(raw)
    except (struct.error, ValueError, OverflowError) as error:
        message = f"incorrect binary data format for a parameter of type {type_.sql}"
        raise ProtocolViolation(message, sqlstate="22P03") from error


def _number(raw: bytes, name: str) -> str:
    value = _BUFFERS[name].unpack(raw)[0]
    return float_text(value, single=name == "real") if isinstance(value, float) else str(value)


def _boolean(raw: bytes) -> str:
    return "f" if raw == b"\0" else "t"


def _numeric(raw: bytes) -> str:
    count, weight, sign, scale = struct.unpack_from("!hhHH", raw)
    if sign in _SIGN_OF:
        return _SIGN_OF[sign]
    groups = struct.unpack(f"!{count}h", raw[8:])
    exponent = 4 * (weight - count + 1)
    digits = int("".join(f"{group:04d}" for group in groups) or "0")
    value = Decimal(digits).scaleb(exponent)
    return ("-" if sign else "") + f"{value:.{scale}f}"


def _moment(raw: bytes, *, suffix: str = "") -> str:
    count: int = struct.unpack("!q", raw)[0]
    if abs(count) == 2**63 - 1 or count == -(2**63):
        return "infinity" if count > 0 else "-infinity"
    return (_EPOCH + dt.timedelta(microseconds=count)).isoformat(" ") + suffix


def _date(raw: bytes) -> str:
    return str(_EPOCH.date() + dt.timedelta(days=struct.unpack("!i", raw)[0]))


def _time(raw: bytes) -> str:
    return (_EPOCH + dt.timedelta(microseconds=struct.unpack("!q", raw)[0])).time().isoformat()


def _interval(raw: bytes) -> str:
    microseconds, days, months = struct.unpack("!qii", raw)
    return f"{months} mons {days} days {microseconds // 1_000_000} seconds " + (
        f"{microseconds % 1_000_000} microseconds"
    )


def _array(raw: bytes, element: Type) -> str:
    fields = Fields(raw)
    dimensions, _, _ = fields.integer(), fields.integer(), fields.integer()
    if dimensions > 1:
        raise ValueError
    size = fields.integer() if dimensions else 0
    if dimensions:
        fields.integer()
    values = []
    for _ in range(size):
        length = fields.integer()
        values.append(None if length < 0 else to_text(fields.take(length), element))
    return array_text(values)


_TO_TEXT: dict[str, Callable[[bytes], str]] = {
    "boolean": _boolean,
    "bytea": lambda raw: "\\x" + raw.hex(),
    "numeric": _numeric,
    "date": _date,
    "time": _time,
    "timestamp": _moment,
    "timestamp with time zone": lambda raw: _moment(raw, suffix="+00"),
    "interval": _interval,
    "uuid": lambda raw: str(uuid.UUID(bytes=raw)),
    "jsonb": lambda raw: raw[1:].decode(),
}
