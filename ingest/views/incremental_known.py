"""Groups whose rows before a step are known here: the change of each, consolidated in one pass.

What a group was stands beside what it is, so that what it was is not made again, and what did not
change is told without grouping.
"""

from __future__ import annotations

import operator

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import StructField, StructType

from ingest.contract.views import FOLDED, MZ_DIFF, Block
from ingest.tables import reading, trees
from ingest.views.incremental_states import numbered

SURE, WAS = "__sure", "__was"
_SIDE = "__side"


def beside(groups: pa.Table, own: pa.Table, places: pa.ChunkedArray) -> pa.Table:
    """Groups by place, and behind them the stored row of each: the one of `own` at its place, or
    nulls."""
    was = own.take(places)
    columns = [*groups.columns, *was.columns]
    return pa.table(columns, names=[f"c{place}" for place in range(len(columns))])


def shape(groups: StructType, stored: StructType) -> StructType:
    """The columns of groups with their stored rows behind them."""
    was = [StructField(_was(n), field.dataType) for n, field in enumerate(stored.fields)]
    return StructType([*groups.fields, *was])


def columns(stored: StructType) -> list[str]:
    """What the stored columns of such groups are called."""
    return [_was(n) for n in range(len(stored))]


def changes(
    live: SparkSession, block: Block, judged: DataFrame, stored: StructType, hidden: int
) -> DataFrame:
    """The groups that changed: the columns `stored`, the last `hidden` of them as
    `view_hidden.net` leaves them, and mz_diff.

    `judged` are the key, the folds' old and new values, `SURE`, `WAS` and the stored columns.
    """
    numbers = range(1, len(block.folds) + 1)
    sure, was = F.col(SURE), F.col(WAS)
    # What a group is made of that is not there any more, it may not be made of at all.
    values = [
        F.when(sure, F.col(numbered("s", n)))
        .otherwise(F.col(numbered("z", n)))
        .alias(numbered("s", n))
        for n in numbers
    ]
    beside = F.struct(SURE, WAS, *columns(stored)).alias(MZ_DIFF)
    there = judged.where(sure | was).select(*block.key, *values, beside)
    made = reading.frame(live, block.finish, {FOLDED: there})
    return _sides(made.toDF(*_new(stored), MZ_DIFF), stored, len(stored) - hidden)


def _sides(made: DataFrame, stored: StructType, visible: int) -> DataFrame:
    """The row that goes and the one that comes, where they differ."""
    new = [
        F.col(name).cast(field.dataType).alias(name)
        for name, field in zip(_new(stored), stored.fields, strict=True)
    ]
    rows = made.select(*new, f"{MZ_DIFF}.*")
    same = [
        F.col(name).eqNullSafe(F.col(before))
        for name, before in zip(_new(stored), columns(stored), strict=True)
    ]
    is_, was = F.col(SURE), F.col(WAS)
    alike = is_ & was & trees.join(operator.and_, same[:visible])
    wholly = alike & trees.join(operator.and_, same)
    gone = [
        (F.col(_was(n)) if n < visible else F.lit(None).cast(field.dataType)).alias(f"c{n}")
        for n, field in enumerate(stored.fields)
    ]
    sides = F.array(
        F.when(was & ~alike, F.struct(*gone, _diff(F.lit(-1)))),
        F.when(
            is_ & ~wholly,
            F.struct(*_new(stored), _diff(F.when(alike, F.lit(0)).otherwise(F.lit(1)))),
        ),
    )
    found = rows.select(F.explode(sides).alias(_SIDE))
    return found.where(F.col(_SIDE).isNotNull()).select(f"{_SIDE}.*")


def _diff(count: Column) -> Column:
    return count.cast("bigint").alias(MZ_DIFF)


def _was(place: int) -> str:
    return f"__was_{place}"


def _new(stored: StructType) -> list[str]:
    return [f"c{place}" for place in range(len(stored))]
