"""Results as row messages, column by column and some thousand rows at a time."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from catalog.errors import InvalidStatement
from catalog.text_values import texts
from console.pgwire.binary import EPOCH_DAYS, EPOCH_MICROSECONDS, FROM_TEXT, NUMBERS
from ingest.contract.relation import Relation
from ingest.contract.types import Type

Raw = list[bytes | None]

AT_ONCE = 2_000
"""Rows that are encoded before anything else gets its turn."""

_LENGTH = struct.Struct("!i")
_NULL = _LENGTH.pack(-1)


def row_messages(relation: Relation, data: pa.Table, formats: Sequence[int]) -> Iterator[bytes]:
    """DataRow messages, joined for some rows each; a format of 1 is binary.

    Raises InvalidStatement for a value that its type has no binary form for.
    """
    for start in range(0, data.num_rows, AT_ONCE):
        part = data.slice(start, AT_ONCE)
        columns = [
            _framed(_encoded(part.column(index), column.type, binary=formats[index] == 1))
            for index, column in enumerate(relation.columns)
        ]
        yield _rows(columns, min(AT_ONCE, data.num_rows - start))


def _rows(columns: list[list[bytes]], count: int) -> bytes:
    width = struct.pack("!h", len(columns))
    bodies = map(b"".join, zip(*columns, strict=True)) if columns else (b"" for _ in range(count))
    return b"".join(b"D" + _LENGTH.pack(len(body) + 6) + width + body for body in bodies)


def _framed(values: Raw) -> list[bytes]:
    pack = _LENGTH.pack
    return [_NULL if value is None else pack(len(value)) + value for value in values]


def _encoded(column: pa.ChunkedArray, type_: Type, *, binary: bool) -> Raw:
    if not binary:
        return _of_texts(column, type_, str.encode)
    try:
        return _binaries(column.combine_chunks(), type_)
    except (struct.error, ValueError, pa.ArrowException) as error:
        message = f"a value cannot be sent as binary {type_.sql}"
        hint = "Ask for results in text format."
        raise InvalidStatement(message, sqlstate="22P03", hint=hint) from error


def _of_texts(
    column: pa.ChunkedArray | pa.Array, type_: Type, encode: Callable[[str], bytes]
) -> Raw:
    return [None if text is None else encode(text) for text in texts(column, type_)]


def _binaries(array: pa.Array, type_: Type) -> Raw:
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if type_.array:
        return _arrays(array, Type(type_.name, type_.precision, type_.scale))
    if type_.name in NUMBERS:
        pack = NUMBERS[type_.name].pack
        make = float if type_.name in {"real", "double precision"} else int
        return _each(array, lambda value: pack(make(value)))
    if convert := _KINDS.get(type_.name):
        return convert(array)
    return _of_texts(array, type_, FROM_TEXT.get(type_.name, str.encode))


def _each(array: pa.Array, encode: Callable[[Any], bytes]) -> Raw:
    return [None if value is None else encode(value) for value in array.to_pylist()]


def _booleans(array: pa.Array) -> Raw:
    return _each(array, lambda value: b"\1" if value else b"\0")


def _bytes(array: pa.Array) -> Raw:
    return _each(array, bytes)


def _dates(array: pa.Array) -> Raw:
    days = pc.cast(pc.cast(array, pa.date32()), pa.int32())
    return _each(days, lambda value: struct.pack("!i", value - EPOCH_DAYS))


def _moments(array: pa.Array) -> Raw:
    zone = array.type.tz if pa.types.is_timestamp(array.type) else None
    counts = pc.cast(pc.cast(array, pa.timestamp("us", tz=zone), safe=False), pa.int64())
    return _each(counts, lambda value: struct.pack("!q", value - EPOCH_MICROSECONDS))


def _times(array: pa.Array) -> Raw:
    counts = pc.cast(pc.cast(array, pa.time64("us")), pa.int64())
    return _each(counts, struct.Struct("!q").pack)


def _arrays(array: pa.Array, element: Type) -> Raw:
    """One flat pass over all elements, then cut where each value ends."""
    flat = _framed(_binaries(array.flatten(), element))
    nulls = [value == _NULL for value in flat]
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
    found: Raw = []
    start = 0
    for size, valid in zip(sizes, array.is_valid().to_pylist(), strict=True):
        end = start + size
        head = struct.pack("!iii", int(size > 0), int(any(nulls[start:end])), oid_of(element))
        shape = struct.pack("!ii", size, 1) if size else b""
        found.append(head + shape + b"".join(flat[start:end]) if valid else None)
        start = end
    return found


def oid_of(type_: Type) -> int:
    """The type's OID; text's for a type that only queries know inside."""
    try:
        return type_.oid
    except KeyError:
        return 1009 if type_.array else 25


_KINDS: dict[str, Callable[[pa.Array], Raw]] = {
    "boolean": _booleans,
    "bytea": _bytes,
    "date": _dates,
    "time": _times,
    "timestamp": _moments,
    "timestamp with time zone": _moments,
}
