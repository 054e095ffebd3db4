"""A generator's values as the log's text and as a base's Arrow columns."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ingest.contract.commands import ExportColumn
from ingest.contract.types import Type
from ingest.feeds.generators.kind import Change, Table, Values
from ingest.feeds.log import LOG_ROWS

_ARROW: dict[str, pa.DataType] = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


def text(value: Any) -> str:
    """A value as PostgreSQL prints it."""
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0").rstrip(".") + "+00"
    return str(value)


def logged(changes: Iterable[tuple[int, Change]], tables: dict[int, Table]) -> pa.Table:
    """Log rows of (tick, change) pairs, in order."""
    columns: dict[str, list[Any]] = {name: [] for name in LOG_ROWS.names}
    for seq, (tick, change) in enumerate(changes):
        key = tables[change.identity].key_of(change.row)
        columns["seq"].append(seq)
        columns["reference"].append(change.identity)
        columns["op"].append(change.op)
        columns["key"].append([text(value) for value in key])
        columns["before"].append(None)
        columns["after"].append(None if change.op == "d" else [text(v) for v in change.row])
        columns["unchanged"].append([])
        columns["position"].append(tick)
    return pa.table(columns, schema=LOG_ROWS)


def typed(rows: Sequence[Values], columns: Sequence[ExportColumn]) -> pa.Table:
    """Rows as a table's own columns."""
    arrays = []
    for column in columns:
        values = [row[column.upstream_position - 1] for row in rows]
        kind = arrow_type(column.type)
        arrays.append(pa.array([text(v) for v in values] if kind == pa.string() else values, kind))
    return pa.table(arrays, names=[column.name for column in columns])


def arrow_type(kind: Type) -> pa.DataType:
    """The Arrow type of a column."""
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", kind.spark)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return _ARROW[kind.spark]
