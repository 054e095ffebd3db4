"""The first rows of an ordered whole, from those known and what changed."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.views import MZ_DIFF, Block
from ingest.tables import reading
from ingest.tables.schema import quoted
from ingest.views.incremental_held import again, held

_KNOWN, _COUNT, _PLACE = "__known", "__count", "__place"
_LAST, _TOTAL, _SUM = "__last", "__total", "__sum"


def first(
    live: SparkSession, block: Block, stored: DataFrame, changes: DataFrame
) -> DataFrame | None:
    """The difference of a topk block whose rows were `stored`, after changes of its child.

    None when rows that are not known move up: then the block must be computed again.
    """
    placed = _placed(live, block, stored, changes)
    full = F.col(_TOTAL) >= block.limit
    seen = placed.where(~full | (F.col(_PLACE) <= F.col(_LAST)))
    shape = seen.schema
    table = held(seen, shape)
    found = seen if table is None else again(live, table, shape)
    row = found.agg(F.max(_TOTAL).alias("known"), F.sum(_COUNT).alias("left")).collect()[0]
    if (row["known"] or 0) >= block.limit and (row["left"] or 0) < block.limit:
        return None
    room = F.lit(block.limit) - (F.col(_SUM) - F.col(_COUNT))
    kept = F.greatest(F.lit(0), F.least(F.col(_COUNT), room))
    moved = found.withColumn(MZ_DIFF, (kept - F.col(_KNOWN)).cast("bigint"))
    return moved.where(F.col(MZ_DIFF) != 0).select(*_names(stored), MZ_DIFF)


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
