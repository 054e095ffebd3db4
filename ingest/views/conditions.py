"""Conditions tried on rows in this process, where they come out as they do in Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.contract.views import Condition, Value

_COMPARE: dict[str, Callable[[pa.ChunkedArray, pa.Scalar], pa.ChunkedArray]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def holding(rows: pa.Table, where: Sequence[Condition]) -> pa.Array | pa.ChunkedArray | None:
    """For each row whether all the conditions hold, null where that is not known, which is as good
    as that they do not. None where only Spark can tell."""
    try:
        held = [_holds(rows, each) for each in where]
        return reduce(pc.and_kleene, held, pa.array(np.ones(rows.num_rows, dtype=bool)))
    except (
        KeyError,
        OverflowError,
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
        pa.ArrowTypeError,
    ):
        return None


def _holds(rows: pa.Table, each: Condition) -> pa.ChunkedArray:
    if each.how in ("and", "or", "not"):
        parts = [_holds(rows, part) for part in each.parts]
        if each.how == "not":
            return pc.invert(parts[0])
        return reduce(pc.and_kleene if each.how == "and" else pc.or_kleene, parts)
    values = rows[each.column]
    if each.how == "null":
        return pc.is_null(values)
    if each.how == "true":
        return _only(values, pa.types.is_boolean(values.type))
    return _COMPARE[each.how](values, _constant(each.value, values))


def _constant(value: Value | None, values: pa.ChunkedArray) -> pa.Scalar:
    """What to compare values with; raises ArrowTypeError for what Spark compares otherwise."""
    kind = values.type
    if isinstance(value, str):
        _only(values, pa.types.is_string(kind))
    elif isinstance(value, dt.date):
        _only(values, pa.types.is_date32(kind))
    elif isinstance(value, Decimal) or pa.types.is_decimal(kind):
        _only(values, pa.types.is_decimal(kind))
        return pa.scalar(Decimal(value or 0))
    else:
        _only(values, pa.types.is_signed_integer(kind))
        return pa.scalar(value, pa.int64())
    return pa.scalar(value, kind)


def _only(values: pa.ChunkedArray, alike: bool) -> pa.ChunkedArray:  # noqa: FBT001
    if not alike:
        message = "values that Spark compares otherwise"
        raise pa.ArrowTypeError(message)
    return values
