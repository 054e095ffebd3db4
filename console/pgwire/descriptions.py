"""What a statement gives, as row descriptions."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from console.pgwire.messages import ProtocolViolation, message, short, text
from console.pgwire.values import oid_of
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT


def row_description(relation: Relation, formats: Sequence[int]) -> bytes:
    """RowDescription: names, types and formats of the columns."""
    columns = zip(relation.columns, formats, strict=True)
    body = b"".join(_field(column, format_) for column, format_ in columns)
    return message(b"T", short(len(relation.columns)) + body)


def spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """One format for each of `count` values: none given is text, one given is for all.

    Raises ProtocolViolation for any other number of them, and for a format that does not exist.
    """
    if any(format_ not in (0, 1) for format_ in formats):
        raise ProtocolViolation("unsupported format code", sqlstate="22023")
    if len(formats) <= 1:
        return tuple(formats or (0,)) * count
    if len(formats) != count:
        told = f"bind message has {len(formats)} formats but there are {count} values"
        raise ProtocolViolation(told)
    return tuple(formats)


def _field(column: Column, format_: int) -> bytes:
    type_ = column.type if oid_of(column.type) != TEXT.oid else TEXT
    numbers = struct.pack(
        "!ihIhih", 0, 0, oid_of(column.type), type_.length, type_.modifier, format_
    )
    return text(column.name) + numbers
