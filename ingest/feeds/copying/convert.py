"""Arrow values as they arrive from PostgreSQL, to the types a table has here.

A value that has no faithful form here (`infinity`, `NaN` in a numeric, a year before Christ, an
array of several dimensions) is told apart, never changed: its row goes to the quarantine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

_SIMPLE = {
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_DAYS = (-719_162, 2_932_896)
_MICROS = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', re.DOTALL)
_FLAT = re.compile(r'(?:\[-?\d+:-?\d+\]=)?\{((?:"(?:[^"\\]|\\.)*"|[^{}"])*)\}', re.DOTALL)


@dataclass(frozen=True)
class Converted:
    """A column's values; `bad` marks those that have no form here, None when all have one."""

    values: pa.Array
    bad: pa.Array | None = None


def arrow_type(spark: str) -> pa.DataType:
    """The Arrow type whose Parquet form Spark reads as `spark`."""
    if spark.startswith("array<"):
        return pa.list_(arrow_type(spark[6:-1]))
    if match := _DECIMAL.fullmatch(spark):
        return pa.decimal128(int(match[1]), int(match[2]))
    return _SIMPLE[spark]


def convert(values: pa.Array, spark: str) -> Converted:
    """`values` as the Spark type `spark`; integers are a decimal multiplied by its scale."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if spark.startswith("array<"):
        return _each(values, arrow_type(spark), lambda text: _array(text, spark[6:-1]))
    wanted = arrow_type(spark)
    if pa.types.is_decimal(wanted):
        return _decimals(values, wanted)
    if spark == "date":
        return _bounded(values, wanted, pa.int32(), _DAYS)
    if spark in {"timestamp", "timestamp_ntz"}:
        return _bounded(values, wanted, pa.int64(), _MICROS)
    return Converted(values if values.type == wanted else pc.cast(values, wanted))


def _bounded(
    values: pa.Array, wanted: pa.DataType, number: pa.DataType, bounds: tuple[int, int]
) -> Converted:
    ticks = values.view(number)
    extremes = pc.min_max(ticks)
    low, high = extremes["min"].as_py(), extremes["max"].as_py()
    if low is None or (low >= bounds[0] and high <= bounds[1]):
        return Converted(values.cast(wanted))
    out = pc.or_(pc.less(ticks, bounds[0]), pc.greater(ticks, bounds[1]))
    bad = pc.fill_null(out, fill_value=False)
    kept = pc.if_else(bad, pa.scalar(None, number), ticks)
    return Converted(kept.view(values.type).cast(wanted), bad)


def _decimals(values: pa.Array, wanted: pa.Decimal128Type) -> Converted:
    if pa.types.is_int64(values.type):
        return Converted(_scaled(values, wanted))
    try:
        return Converted(pc.cast(values, wanted))
    except pa.ArrowInvalid:
        return _each(values, wanted, lambda text: _decimal(text, wanted))


def _scaled(values: pa.Array, wanted: pa.Decimal128Type) -> pa.Array:
    """Numbers that upstream has multiplied by the scale: only the type is to be told."""
    whole = pc.cast(values, pa.decimal128(19, 0))
    return pa.Array.from_buffers(wanted, len(whole), whole.buffers(), offset=whole.offset)


def _decimal(text: str, wanted: pa.Decimal128Type) -> Decimal:
    value = Decimal(text)
    whole = value.scaleb(wanted.scale)
    if not value.is_finite() or whole != whole.to_integral_value():
        raise ValueError(text)
    if abs(whole) >= 10**wanted.precision:
        raise ValueError(text)
    return value


def _each(values: pa.Array, wanted: pa.DataType, parse: Callable[[str], object]) -> Converted:
    """Value by value, for what Arrow has no kernel for or what it refused as a whole."""
    found: list[object] = []
    bad: list[bool] = []
    for text in values.to_pylist():
        try:
            found.append(None if text is None else parse(text))
            bad.append(False)
        except (ValueError, ArithmeticError, InvalidOperation):
            found.append(None)
            bad.append(True)
    return Converted(pa.array(found, wanted), pa.array(bad) if any(bad) else None)


def _array(text: str, element: str) -> list[object]:
    match = _FLAT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    texts: list[str | None] = []
    for token in _ELEMENT.finditer(match[1]):
        if token[1] is not None:
            texts.append(re.sub(r"(?s)\\(.)", r"\1", token[1]))
        else:
            texts.append(None if token[2] == "NULL" else token[2])
    return [None if one is None else _element(one, element) for one in texts]


def _element(text: str, spark: str) -> object:
    if spark == "boolean":
        return text == "t"
    if spark == "binary":
        return bytes.fromhex(text.removeprefix("\\x"))
    wanted = arrow_type(spark)
    if pa.types.is_decimal(wanted):
        return _decimal(text, wanted)
    try:
        return (
            pa.scalar(_iso(text) if pa.types.is_timestamp(wanted) else text).cast(wanted).as_py()
        )
    except pa.ArrowInvalid:
        raise ValueError(text) from None


def _iso(text: str) -> str:
    return re.sub(r"([+-]\d\d)$", r"\1:00", text)
