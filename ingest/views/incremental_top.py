"""The first rows of an ordered whole, from those known and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from ingest.contract.views import MZ_DIFF, Block
from ingest.tables import reading, told
from ingest.tables.schema import quoted
from ingest.views.incremental_held import again, held, sorted_alike
from ingest.views.near import Near

_KNOWN, _COUNT, _PLACE = "__known", "__count", "__place"
_LAST, _TOTAL, _SUM = "__last", "__total", "__sum"
_MARKS = (_KNOWN, _COUNT, _SUM)


def here(
    block: Block, near: Near, changes: pa.Table | None, frame: Callable[[], DataFrame]
) -> pa.Table | None:
    """Known and changed rows in order, without Spark: the columns by place (`c0`, ..), how often
    each is known, how often there, and how many there are up to it. None where only Spark can
    tell.

    `changes` are those of the child by name with mz_diff, None where `frame` has to be asked.
    """
    own = near.every()
    if own is None or not all(sorted_alike(kind) for kind in own.schema.types[:-1]):
        return None
    if changes is None:
        rows = frame()
        changes = held(rows, near.schema("changes", lambda: rows))
    if changes is None:
        return None
    try:
        moved = changes.rename_columns(own.column_names).cast(own.schema)
        return _in_order(block, own, told.consolidated(_reaching(block, own, moved)))
    # What cannot be compared or cast here Spark can.
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def keys(block: Block, name: str, key: Sequence[str], near: Near) -> pa.Table | None:
    """The keys that known rows have in an input whose rows they are, by its `key`'s columns: what
    rows with other keys were is behind the known ones. None where rows do not say their keys."""
    child = next(iter(block.children.values()), "")
    if block.kind != "topk" or not isinstance(child, Block) or child.kind != "linear":
        return None
    if list(child.children.values()) != [name] or len(child.parts) != 1:
        return None
    columns = [column for _, column in child.parts[0].values or ()]
    if len(columns) < len(child.columns) or not key or not {*key} <= {*columns}:
        return None
    own = near.every()
    if own is None:
        return None
    return pa.table({column: own[f"c{columns.index(column)}"] for column in key})


def _reaching(block: Block, own: pa.Table, moved: pa.Table) -> pa.Table:
    """The changes, less those that are behind all rows that are known, if these are enough."""
    first = block.ordered[0]
    place = f"c{block.columns.index(first.column)}"
    known = own[place]
    if known.null_count or (pc.sum(own[MZ_DIFF]).as_py() or 0) < block.limit:
        return moved
    ends, values = pc.min_max(known), moved[place]
    if first.descending:
        before = pc.greater_equal(values, ends["min"])
    else:
        before = pc.less_equal(values, ends["max"])
    return moved.filter(pc.or_kleene(pc.is_null(values), before))


def _in_order(block: Block, own: pa.Table, moved: pa.Table) -> pa.Table:
    *names, diff = own.column_names
    none = pa.repeat(pa.scalar(0, pa.int64()), moved.num_rows)
    rows = pa.concat_tables(
        [
            own.append_column(_KNOWN, own[diff]),
            moved.append_column(_KNOWN, none),
        ]
    )
    summed = rows.group_by(names, use_threads=False).aggregate([(_KNOWN, "sum"), (diff, "sum")])
    merged = summed.rename_columns([*names, _KNOWN, _COUNT])
    keys, by = merged, []
    for place, each in enumerate(block.ordered):
        values = merged[f"c{block.columns.index(each.column)}"]
        missing = pc.xor(pc.is_null(values), pa.scalar(value=each.nulls_first)).cast(pa.int8())
        keys = keys.append_column(f"n{place}", missing).append_column(f"v{place}", values)
        way = "descending" if each.descending else "ascending"
        by += [(f"n{place}", "ascending"), (f"v{place}", way)]
    ordered = merged.take(pc.sort_indices(keys, sort_keys=by))
    ordered = ordered.append_column(_SUM, pc.cumulative_sum(ordered[_COUNT]))
    if _total(ordered) < block.limit:
        return ordered
    last = pc.max(pc.indices_nonzero(ordered[_KNOWN])).as_py()
    return ordered.slice(0, last + 1 if last is not None else 0)


def first(
    live: SparkSession, block: Block, stored: DataFrame, changes: DataFrame
) -> DataFrame | None:
    """The difference of a topk block whose rows were `stored`, after changes of its child.

    None when rows that are not known move up: then the block must be computed again.
    """
    placed = _placed(live, block, stored, changes)
    full = F.col(_TOTAL) >= block.limit
    seen = placed.where(~full | (F.col(_PLACE) <= F.col(_LAST)))
    seen = seen.select(*_names(stored), _KNOWN, _COUNT, _SUM)
    shape = seen.schema
    table = held(seen, shape)
    if table is None:
        return _taken(seen, stored, block.limit)
    own = table.column_names[: -len(_MARKS)]
    moved = taken(table.rename_columns([*own, *_MARKS]), block.limit)
    kinds = StructType([*shape.fields[: len(own)], StructField(MZ_DIFF, LongType())])
    if moved is None:
        return None
    return again(live, moved.rename_columns([*own, f"c{len(own)}"]), kinds)


def _taken(seen: DataFrame, stored: DataFrame, limit: int) -> DataFrame | None:
    """As `taken`, of very many rows."""
    row = seen.agg(F.sum(_KNOWN).alias("known"), F.sum(_COUNT).alias("left")).collect()[0]
    if (row["known"] or 0) >= limit and (row["left"] or 0) < limit:
        return None
    room = F.lit(limit) - (F.col(_SUM) - F.col(_COUNT))
    kept = F.greatest(F.lit(0), F.least(F.col(_COUNT), room))
    moved = seen.withColumn(MZ_DIFF, (kept - F.col(_KNOWN)).cast("bigint"))
    return moved.where(F.col(MZ_DIFF) != 0).select(*_names(stored), MZ_DIFF)


def taken(placed: pa.Table, limit: int) -> pa.Table | None:
    """The difference of a topk block from what `here` placed: the columns by place and mz_diff.

    None when rows that are not known move up: then the block must be computed again.
    """
    if _total(placed) >= limit and (pc.sum(placed[_COUNT]).as_py() or 0) < limit:
        return None
    room = pc.subtract(limit, pc.subtract(placed[_SUM], placed[_COUNT]))
    kept = pc.max_element_wise(0, pc.min_element_wise(placed[_COUNT], room))
    moved = placed.append_column(MZ_DIFF, pc.subtract(kept, placed[_KNOWN]))
    moved = moved.filter(pc.not_equal(moved[MZ_DIFF], 0))
    return moved.drop_columns(list(_MARKS))


def _total(placed: pa.Table) -> int:
    """How many rows were known."""
    return int(pc.sum(placed[_KNOWN]).as_py() or 0)


def _placed(live: SparkSession, block: Block, stored: DataFrame, changes: DataFrame) -> DataFrame:
    """Known and changed rows, once each, with how many there are up to each, in order.

    Of rows after the last known one only the changes are known, not how many there are.
    """
    known = stored.select(*_names(stored), F.lit(1).alias(_KNOWN), F.lit(1).alias(_COUNT))
    moved = changes.withColumn(_KNOWN, F.lit(0)).withColumn(_COUNT, F.col(MZ_DIFF))
    rows = known.unionAll(moved.select(*_names(stored), _KNOWN, _COUNT))
    sums = [F.sum(name).alias(name) for name in (_KNOWN, _COUNT)]
    merged = rows.groupBy(*_names(stored)).agg(*sums)
    order = " ".join(("OVER (ORDER BY", block.order))
    text = " ".join(
        (
            "SELECT *, MAX(IF(__known > 0, __place, NULL)) OVER () AS __last,",
            "SUM(__known) OVER () AS __total FROM (SELECT *,",
            "ROW_NUMBER()", order + ")", "AS __place, SUM(__count)", order,
            "ROWS UNBOUNDED PRECEDING) AS __sum FROM rows)",
        )
    )  # fmt: skip
    return reading.frame(live, text, {"rows": merged})


def _names(rows: DataFrame) -> list[str]:
    return [quoted(name) for name in rows.columns]
