"""Rows made here, as the Arrow data that every result carries."""

from __future__ import annotations

import pyarrow as pa

from catalog.plan.plans import Rows
from catalog.results import Rows as Answer
from ingest.contract.types import Type

_ARROW = {
    "boolean": pa.bool_(),
    "bigint": pa.int64(),
    "integer": pa.int32(),
    "uint8": pa.decimal128(20, 0),
    "mz_timestamp": pa.int64(),
    "timestamp with time zone": pa.timestamp("us", tz="UTC"),
}


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type that holds a type; text for the rest."""
    element = _ARROW.get(type_.name, pa.string())
    return pa.list_(element) if type_.array else element


def answer_of(plan: Rows) -> Answer:
    """A plan's rows as a result."""
    columns = plan.relation.columns
    arrays = [
        pa.array([row[position] for row in plan.rows], type=arrow_type(column.type))
        for position, column in enumerate(columns)
    ]
    data = pa.Table.from_arrays(arrays, names=list(plan.relation.names))
    return Answer(plan.tag, plan.relation, data, plan.notices)
