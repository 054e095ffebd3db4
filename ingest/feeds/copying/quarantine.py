"""Rows of a snapshot that do not fit the table's types, kept as upstream's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

QUARANTINED = pa.schema([("after", pa.list_(pa.string())), ("reason", pa.string())])
"""`after` has upstream text at index position - 1, as in the log."""


class Field(Protocol):
    """What is said about a bad value's column."""

    @property
    def name(self) -> str:
        """The column's name."""

    @property
    def spark(self) -> str:
        """The Spark type it should have."""

    @property
    def position(self) -> int:
        """Its upstream position."""

    @property
    def sql_type(self) -> str:
        """The type it should have, as PostgreSQL spells it."""


def rejected(
    batch: pa.RecordBatch,
    fields: Sequence[Field],
    flags: Sequence[pa.Array | None],
    out: pa.Array,
) -> pa.Table:
    """The rows of `batch` where `out`, with the reason from the first column that is flagged."""
    rows: list[dict[str, object]] = []
    for index, flagged in enumerate(out.to_pylist()):
        if flagged:
            rows.append(_row(batch, fields, flags, index))
    return pa.Table.from_pylist(rows, schema=QUARANTINED)


def _row(
    batch: pa.RecordBatch,
    fields: Sequence[Field],
    flags: Sequence[pa.Array | None],
    index: int,
) -> dict[str, object]:
    after: list[str | None] = [None] * max(field.position for field in fields)
    reason = ""
    for field, column, flag in zip(fields, batch.columns, flags, strict=True):
        text = _text(column, index)
        after[field.position - 1] = text
        if not reason and flag is not None and flag[index].as_py():
            shown = (text or "")[:200]
            reason = f'column "{field.name}": invalid input for type {field.sql_type}: "{shown}"'
    return {"after": after, "reason": reason}


def _text(column: pa.Array, index: int) -> str | None:
    """A value as upstream would print it, so far as a value that arrived in binary can be."""
    values = column.storage if isinstance(column, pa.ExtensionArray) else column
    if not values[index].is_valid:
        return None
    if pa.types.is_temporal(values.type):
        return _moment(values, index)
    value = values[index].as_py()
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    return str(value)


def _moment(values: pa.Array, index: int) -> str:
    try:
        return str(values[index].as_py()).replace("+00:00", "+00")
    except (ValueError, OverflowError):
        days = pa.types.is_date(values.type)
        ticks = values.slice(index, 1).view(pa.int32() if days else pa.int64())[0].as_py()
        return _far_away(ticks, days=days)


def _far_away(ticks: int, *, days: bool) -> str:
    """PostgreSQL's infinities overflow on their way to another epoch, so that they come out at the
    other end of the range; what is elsewhere is a year that Python cannot print."""
    width = 32 if days else 64
    shift = 10_957 if days else 946_684_800_000_000
    own = (ticks - shift + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
    if own == 2 ** (width - 1) - 1:
        return "infinity"
    if own == -(2 ** (width - 1)):
        return "-infinity"
    unit = "days" if days else "microseconds"
    return f"{ticks} {unit} from 1970-01-01"
