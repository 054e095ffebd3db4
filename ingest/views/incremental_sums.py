"""Groups' changes and stored rows brought together in this process.

Where numbers are whole or decimal and what changed is known here, sums of it come out here as they
do in Spark, which would take three rounds of grouping for them. What the groups' columns are made
of their sums is Spark's to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType, DecimalType, LongType, StructField, StructType

from ingest.contract.views import MZ_DIFF, Block
from ingest.tables.view_near import same_by_bytes
from ingest.views.incremental_states import KNOWN, NET, numbered
from ingest.views.incremental_utmost import netted, plain

_DIGITS = 38
_MORE_DIGITS = 10
"""A sum of decimals has so many more, as Spark makes it."""
_WHOLE_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
_MOST_ROWS = 1_000_000
_PLACE = "place"
_LETTERS = {"rows": "z", "count": "zc", "sum": "zct", "min": "zid", "max": "zid"}


class Merged(NamedTuple):
    """`groups`, by place, and of each the place of its stored row, null where there is none."""

    groups: pa.Table
    places: pa.ChunkedArray


def merged(block: Block, changes: pa.Table, stored: pa.Table, kinds: StructType) -> Merged | None:
    """Each group in `changes` with what changed in it and what is stored of it: the columns of
    `shape`. None where only Spark can tell.

    `changes` are `near.Near`'s, `stored` the rows of their groups by place, `kinds` what Spark
    makes of changes alone.
    """
    values = [each.value for each in block.folds if each.value]
    if not block.key or not all(name in changes.column_names for name in values):
        return None
    times = pc.abs(changes[MZ_DIFF])
    if (pc.sum(times).as_py() or 0) > _MOST_ROWS:
        return None
    try:
        return _merged(block, _single(changes, times), stored, shape(block, kinds))
    # What cannot be grouped, compared, cast or added here Spark can, or it says why not.
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def shape(block: Block, kinds: StructType) -> StructType:
    """The columns of groups brought together; a sum may outgrow what it is kept as."""
    fields = [kinds[name] for name in (*block.key, KNOWN, NET)]
    for n, each in enumerate(block.folds, 1):
        for letter in _LETTERS[each.how]:
            found = kinds[numbered(letter, n)]
            if letter == "t" and isinstance(found.dataType, DecimalType):
                found = StructField(found.name, DecimalType(_DIGITS, found.dataType.scale))
            fields.append(found)
    return StructType(fields)


def _merged(block: Block, changes: pa.Table, stored: pa.Table, kinds: StructType) -> Merged:
    """The rows of all that is known, each with what it knows, and one grouping of them."""
    key = list(block.key)
    same_by_bytes(changes.select(key))
    rows = [_moved(block, changes, kinds), _known(block, stored, changes.schema, kinds)]
    whole = pa.concat_tables([*rows, *_sides(block, changes)], promote_options="default")
    how = {KNOWN: "max", NET: "sum"} | dict(_ways(block)) | {_PLACE: "max"}
    grouped = whole.group_by(key).aggregate(list(how.items()))
    places = grouped[f"{_PLACE}_{how.pop(_PLACE)}"]
    found = [grouped[name] for name in key]
    for name, way in how.items():
        column = grouped[f"{name}_{way}"]
        found.append(
            _filled(column) if name in (KNOWN, NET) else _as(column, kinds[name].dataType)
        )
    return Merged(pa.table(found, names=[f"c{place}" for place in range(len(found))]), places)


def _single(changes: pa.Table, times: pa.ChunkedArray) -> pa.Table:
    """The changes, each as often as it counts."""
    if not pc.any(pc.greater(times, 1)).as_py():
        return changes
    repeated = changes.take(np.repeat(np.arange(changes.num_rows), times.to_numpy()))
    place = changes.column_names.index(MZ_DIFF)
    return repeated.set_column(place, MZ_DIFF, pc.sign(repeated[MZ_DIFF]).cast(pa.int64()))


def _ways(block: Block) -> Iterator[tuple[str, str]]:
    """How each number of a fold is made of the rows' ones."""
    for n, each in enumerate(block.folds, 1):
        for letter in _LETTERS[each.how]:
            utmost = each.how if letter in "id" else "max"
            yield numbered(letter, n), "sum" if letter in "ct" else utmost


def _moved(block: Block, changes: pa.Table, kinds: StructType) -> pa.Table:
    """What came and went: how many rows, how many values, and their sums."""
    diffs = changes[MZ_DIFF]
    found = changes.select(list(block.key)).append_column(NET, diffs)
    for n, each in enumerate(block.folds, 1):
        if each.how not in ("count", "sum"):
            continue
        values = changes[each.value]
        counts = pc.if_else(pc.is_valid(values), diffs, pa.scalar(0, diffs.type))
        found = found.append_column(numbered("c", n), counts)
        if each.how == "sum":
            exact = _exact(values, kinds[numbered("t", n)].dataType)
            signed = pc.if_else(pc.greater(diffs, 0), exact, pc.negate(exact))
            found = found.append_column(numbered("t", n), signed)
    return found


def _exact(values: pa.ChunkedArray, kind: DataType) -> pa.ChunkedArray:
    """Numbers that can be added up. Raises ArrowTypeError for others."""
    if not _fit(values.type, kind) and not _small(values, kind):
        message = "no numbers that can be added up here"
        raise pa.ArrowTypeError(message)
    return values.cast(_summed(kind))


def _fit(given: pa.DataType, total: DataType) -> bool:
    """Whether all such numbers are ones that a sum of the type `total` adds up: a value may be
    another type's in the block's text. There are ten digits left then for how many they are."""
    whole = pa.types.is_signed_integer(given)
    if not isinstance(total, DecimalType):
        return whole and isinstance(total, LongType)
    digits = total.precision - _MORE_DIGITS - total.scale
    if whole:
        return _WHOLE_DIGITS[given.bit_width] <= digits
    fraction = given.scale if pa.types.is_decimal(given) else _DIGITS
    return fraction <= total.scale and given.precision - fraction <= digits


def _small(values: pa.ChunkedArray, total: DataType) -> bool:
    """Whether these decimal numbers are ones that `_fit` would take, though their type is longer,
    as that of a sum in another view is."""
    given = values.type
    if not isinstance(total, DecimalType) or not pa.types.is_decimal128(given):
        return False
    digits = total.precision - _MORE_DIGITS - total.scale
    ends = pc.min_max(values).as_py().values()
    return given.scale <= total.scale and all(
        abs(end) < Decimal(10) ** digits for end in ends if end is not None
    )


def _summed(kind: DataType) -> pa.DataType:
    """What sums are made as: one digit less than there is place for."""
    return pa.decimal128(_DIGITS - 1, kind.scale if isinstance(kind, DecimalType) else 0)


def _known(block: Block, stored: pa.Table, changed: pa.Schema, kinds: StructType) -> pa.Table:
    """What is stored, laid out as what changed is."""

    def column(name: str) -> pa.ChunkedArray:
        return stored[f"c{block.columns.index(name)}"]

    pairs = zip(block.key, block.output_key, strict=True)
    found = pa.table({key: column(name).cast(changed.field(key).type) for key, name in pairs})
    found = found.append_column(KNOWN, pa.repeat(pa.scalar(1, pa.int32()), found.num_rows))
    found = found.append_column(_PLACE, pa.array(np.arange(found.num_rows)))
    for n, each in enumerate(block.folds, 1):
        value = column(each.column)
        found = found.append_column(numbered("z", n), value)
        if each.how == "sum":
            kind = _summed(kinds[numbered("t", n)].dataType)
            found = found.append_column(numbered("t", n), value.cast(kind))
    return found


def _sides(block: Block, changes: pa.Table) -> Iterator[pa.Table]:
    """The values that came and those that went, for each least or greatest one."""
    for n, each in enumerate(block.folds, 1):
        if each.how not in ("min", "max"):
            continue
        if not plain(changes[each.value].type):
            message = "values that Spark compares otherwise"
            raise pa.ArrowTypeError(message)
        for letter, rows in zip("id", netted(block, each, changes), strict=True):
            yield rows.rename_columns([*block.key, numbered(letter, n)])


def _filled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(column, pa.scalar(0, column.type))


def _as(column: pa.ChunkedArray, kind: DataType) -> pa.ChunkedArray:
    """A sum of whole numbers is one again. Raises ArrowInvalid when it has outgrown them."""
    if pa.types.is_decimal(column.type) and not isinstance(kind, DecimalType):
        return column.cast(pa.decimal128(_DIGITS, 0)).cast(pa.int64())
    return column
