"""Changes as Arrow tables: the subject's columns by place, then a time (ms) and a difference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TIME, DIFF = -2, -1
"""Places of the two last columns."""


def stamped(rows: pa.Table, time: int) -> pa.Table:
    """Rows that are there at a time, as changes that add them."""
    count = rows.num_rows
    times = pa.array([time], pa.int64()).take(pa.array([0] * count, pa.int32()))
    ones = pa.array([1], pa.int64()).take(pa.array([0] * count, pa.int32()))
    return put_together([*rows.columns, times, ones])


def less(new: pa.Table, old: pa.Table, time: int) -> pa.Table:
    """What makes the old rows the new ones, at a time; not consolidated."""
    come, gone = stamped(new, time), stamped(old, time)
    diffs = pc.negate(gone.column(gone.num_columns + DIFF))
    gone = gone.set_column(gone.num_columns + DIFF, gone.column_names[DIFF], diffs)
    return pa.concat_tables([come, gone.cast(come.schema)])


def put_together(columns: list[Any]) -> pa.Table:
    """A table of these columns; names are their places, because a query may name two alike."""
    return pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])


def between(changes: pa.Table, after: int, upto: int) -> pa.Table:
    """The changes with `after` < time <= `upto`."""
    times = changes.column(changes.num_columns + TIME)
    return changes.filter(pc.and_(pc.greater(times, after), pc.less_equal(times, upto)))


def in_order(changes: pa.Table) -> pa.Table:
    """By time, and within a time what goes before what comes."""
    width = changes.num_columns
    keys = [(str(width + TIME), "ascending"), (str(width + DIFF), "ascending")]
    return changes.sort_by(keys)


def consolidated(changes: pa.Table) -> pa.Table:
    """Equal rows of one time as one, without those whose differences cancel out."""
    names, diff = changes.column_names[:DIFF], changes.column_names[DIFF]
    kinds = [column.type for column in changes.columns]
    if any(pa.types.is_nested(kind) for kind in kinds):
        return _counted(changes)
    summed = changes.group_by(names, use_threads=False).aggregate([(diff, "sum")])
    whole = put_together([*(summed.column(name) for name in names), summed.column(f"{diff}_sum")])
    return whole.filter(pc.not_equal(whole.column(whole.num_columns + DIFF), 0))


def _counted(changes: pa.Table) -> pa.Table:
    """The same for columns that Arrow cannot group by."""
    keys = [
        repr(row[:DIFF]) for row in zip(*(c.to_pylist() for c in changes.columns), strict=True)
    ]
    sums: Counter[str] = Counter()
    for key, diff in zip(
        keys, changes.column(changes.num_columns + DIFF).to_pylist(), strict=True
    ):
        sums[key] += diff
    first: dict[str, int] = {}
    for place, key in enumerate(keys):
        if sums[key]:
            first.setdefault(key, place)
    kept = changes.take(pa.array(list(first.values()), pa.int64()))
    diffs = pa.array([sums[key] for key in first], pa.int64())
    return kept.set_column(kept.num_columns + DIFF, changes.column_names[DIFF], diffs)
