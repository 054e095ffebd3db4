"""Groups whose columns are their keys and what was folded: their changes, made in this process.

Where a column is made of these, as an average is, Spark makes it (`incremental_known`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType, DecimalType, StructType

from ingest.contract.views import MZ_DIFF, Block
from ingest.views.incremental_held import sorted_alike
from ingest.views.incremental_states import KNOWN, NET, count_of, counting, numbered
from ingest.views.incremental_sums import Merged

_Columns = Mapping[str, pa.ChunkedArray]


def changes(
    block: Block, found: Merged, own: pa.Table, kinds: tuple[StructType, StructType], hidden: int
) -> pa.Table | None:
    """The groups that changed: the columns of `own` by place, the last `hidden` of them as
    `view_hidden.net` leaves them, and mz_diff. None where only Spark can tell.

    `found` are groups of which none is in doubt, `own` their stored rows, and `kinds` the columns
    of `found` and what Spark makes of changes alone.
    """
    rows = counting(block)
    if rows is None or not block.copied or not all(map(sorted_alike, own.schema.types)):
        return None
    groups, moved = kinds
    columns = dict(zip(groups.names, found.groups.columns, strict=True))
    try:
        values = _values(block, columns)
        new = [
            _as(values[name], moved[_kept(name)].dataType, field.type)
            for name, field in zip(block.copied, own.schema, strict=True)
        ]
    # What does not fit its type Spark refuses.
    except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None
    there = pc.greater(values[numbered("s", rows)], 0)
    was = pc.equal(columns[KNOWN], 1)
    before = own.take(found.places)
    return _sides(pa.table(new, schema=own.schema), before, (there, was), hidden)


def _kept(name: str) -> str:
    """What the stored value of a folded group's column is called in what Spark makes."""
    return "z" + name[1:] if name.startswith("s") else name


def _values(block: Block, columns: _Columns) -> dict[str, pa.ChunkedArray]:
    """The key and the new values; see `incremental_states.following`.

    Raises KeyError for a sum of which it is not counted what it adds up.
    """
    found = {key: columns[key] for key in block.key}
    for n, each in enumerate(block.folds, 1):
        known = columns[numbered("z", n)]
        if each.how in ("rows", "count"):
            more = columns[NET if each.how == "rows" else numbered("c", n)]
            found[numbered("s", n)] = pc.add_checked(_filled(known), _filled(more))
        elif each.how in ("min", "max"):
            utmost = pc.min_element_wise if each.how == "min" else pc.max_element_wise
            came = columns[numbered("i", n)]
            found[numbered("s", n)] = utmost(known, came.cast(known.type))
    for n, each in enumerate(block.folds, 1):
        if each.how == "sum":
            left = found[numbered("s", count_of(block, n) or 0)]
            total = columns[numbered("t", n)]
            none = pa.scalar(None, total.type)
            found[numbered("s", n)] = pc.if_else(pc.greater(left, 0), total, none)
    return found


def _filled(counts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(counts, pa.scalar(0, counts.type))


def _as(values: pa.ChunkedArray, made: DataType, kept: pa.DataType) -> pa.ChunkedArray:
    """Values of the type that Spark has `made` as those that are `kept`.

    Raises ArrowInvalid where one does not fit, ArrowTypeError for types that need Spark.
    """
    if isinstance(made, DecimalType) and pa.types.is_decimal(values.type):
        values = values.cast(pa.decimal128(made.precision, made.scale))
    if values.type == kept:
        return values
    numbers = (pa.types.is_signed_integer, pa.types.is_decimal128)
    if not any(test(values.type) and test(kept) for test in numbers):
        message = "no numbers of one kind"
        raise pa.ArrowTypeError(message)
    return values.cast(kept)


def _sides(
    new: pa.Table, before: pa.Table, which: tuple[pa.ChunkedArray, pa.ChunkedArray], hidden: int
) -> pa.Table:
    """The row that goes and the one that comes, where they differ. `which` groups are there, and
    which were."""
    there, was = which
    same = [_same(*pair) for pair in zip(new.columns, before.columns, strict=True)]
    visible = len(same) - hidden
    alike = pc.and_(pc.and_(there, was), _all(same[:visible]))
    wholly = pc.and_(alike, _all(same[visible:])) if hidden else alike
    gone = before.filter(pc.and_(was, pc.invert(alike)))
    for place in range(visible, len(same)):
        field = before.schema.field(place)
        gone = gone.set_column(place, field, pa.nulls(gone.num_rows, field.type))
    comes = pc.and_(there, pc.invert(wholly))
    counts = pc.invert(alike).filter(comes).cast(pa.int64())
    went = pa.repeat(pa.scalar(-1, pa.int64()), gone.num_rows)
    sides = (gone.append_column(MZ_DIFF, went), new.filter(comes).append_column(MZ_DIFF, counts))
    return pa.concat_tables(sides)


def _same(new: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which values are equal; null is equal to null."""
    missing = pc.and_(pc.is_null(new), pc.is_null(before))
    return pc.or_(missing, pc.fill_null(pc.equal(new, before), False))  # noqa: FBT003


def _all(tests: Iterable[pa.ChunkedArray]) -> pa.ChunkedArray:
    return reduce(pc.and_, tests)
