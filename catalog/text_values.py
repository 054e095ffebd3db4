"""Arrow columns as PostgreSQL prints their values; one place for every entrance.

Session settings are fixed: DateStyle ISO, TimeZone UTC, bytea_output hex, extra_float_digits 1.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.contract.relation import Relation
from ingest.contract.types import Type

Texts = list[str | None]
_QUOTED = re.compile(r'[{}",\\\s]|\A\Z|\A(?i:null)\Z')


def text_rows(relation: Relation, data: pa.Table) -> Iterable[tuple[str | None, ...]]:
    """The rows of a result, value by value in text; a null is None."""
    columns = [
        texts(data.column(index), column.type) for index, column in enumerate(relation.columns)
    ]
    if not columns:
        return [() for _ in range(data.num_rows)]
    return zip(*columns, strict=True)


def texts(column: pa.ChunkedArray | pa.Array, type_: Type) -> Texts:
    """The values of one column in PostgreSQL's text form; a null is None."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    for is_kind, convert in _CONVERTERS:
        if is_kind(array.type):
            return convert(array, type_)
    return [None if value is None else _any(value) for value in array.to_pylist()]


def array_text(elements: Iterable[str | None]) -> str:
    """An array of element texts as PostgreSQL prints it: `{1,NULL,"a b"}`."""
    return "{" + ",".join(map(_element, elements)) + "}"


def _element(text: str | None) -> str:
    if text is None:
        return "NULL"
    if not _QUOTED.search(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _any(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def _strings(array: pa.Array, type_: Type) -> Texts:
    values: Texts = array.to_pylist()
    return values


def _booleans(array: pa.Array, type_: Type) -> Texts:
    return _strings(pc.if_else(array, "t", "f"), type_)


def _casts(array: pa.Array, type_: Type) -> Texts:
    return _strings(pc.cast(array, pa.string()), type_)


def _decimals(array: pa.Array, type_: Type) -> Texts:
    """A numeric without a declared scale loses the zeros that only its storage added."""
    trim = type_.name == "numeric" and type_.precision is None and array.type.scale > 0
    return [None if v is None else _plain(v, trim=trim) for v in array.to_pylist()]


def _plain(value: Decimal, *, trim: bool) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if trim and "." in text else text


def _moments(array: pa.Array, type_: Type) -> Texts:
    """`YYYY-MM-DD HH:MM:SS[.ffffff]`, with `+00` where the instant is known."""
    zoned = array.type.tz is not None or type_.name == "timestamp with time zone"
    plain = pc.cast(array, pa.timestamp("us", tz=array.type.tz), safe=False)
    if array.type.tz is not None:
        plain = pc.cast(pc.cast(plain, pa.int64()), pa.timestamp("us"))
    text = _trimmed(pc.cast(plain, pa.string()))
    return _strings(pc.binary_join_element_wise(text, "+00", "") if zoned else text, type_)


def _times(array: pa.Array, type_: Type) -> Texts:
    return _strings(_trimmed(pc.cast(pc.cast(array, pa.time64("us")), pa.string())), type_)


def _trimmed(array: pa.Array) -> pa.Array:
    return pc.utf8_rtrim(pc.utf8_rtrim(array, "0"), ".")


def _bytes(array: pa.Array, type_: Type) -> Texts:
    return [None if value is None else "\\x" + value.hex() for value in array.to_pylist()]


def _floats(array: pa.Array, type_: Type) -> Texts:
    single = array.type == pa.float32() or type_.name == "real"
    return [None if v is None else float_text(v, single=single) for v in array.to_pylist()]


def float_text(value: float, *, single: bool = False) -> str:
    """The shortest text that reads back the same, exponential where PostgreSQL goes so."""
    if math.isnan(value):
        return "NaN"
    if value in {float("inf"), float("-inf")}:
        return "Infinity" if value > 0 else "-Infinity"
    narrow: Any = np.float32(value) if single else np.float64(value)
    scientific = np.format_float_scientific(narrow, trim="-")
    mantissa, exponent = scientific.split("e")
    if value != 0 and not -5 < int(exponent) < (6 if single else 15):
        return f"{mantissa}e{int(exponent):+03d}"
    return np.format_float_positional(narrow, trim="-")


def _lists(array: pa.Array, type_: Type) -> Texts:
    """One flat pass over all elements, then cut at the offsets."""
    element = Type(type_.name, type_.precision, type_.scale)
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    flat = texts(array.flatten(), element)
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
    found: Texts = []
    start = 0
    for size, valid in zip(sizes, array.is_valid().to_pylist(), strict=True):
        found.append(array_text(flat[start : start + size]) if valid else None)
        start += size
    return found


def _nested(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(type_)
        or pa.types.is_large_list(type_)
        or pa.types.is_fixed_size_list(type_)
    )


_CONVERTERS: tuple[
    tuple[Callable[[pa.DataType], bool], Callable[[pa.Array, Type], Texts]], ...
] = (
    (pa.types.is_string, _strings),
    (pa.types.is_large_string, _strings),
    (pa.types.is_boolean, _booleans),
    (pa.types.is_integer, _casts),
    (pa.types.is_decimal, _decimals),
    (pa.types.is_floating, _floats),
    (pa.types.is_timestamp, _moments),
    (pa.types.is_date, _casts),
    (pa.types.is_time, _times),
    (pa.types.is_binary, _bytes),
    (pa.types.is_large_binary, _bytes),
    (_nested, _lists),
)
