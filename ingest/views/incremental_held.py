"""Few rows brought through this process, so that what follows does not compute them again."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import StructType

MOST_ROWS = 200_000


def held(rows: DataFrame, most: int | None = MOST_ROWS) -> pa.Table | None:
    """The rows, columns called by their place (`c0`, ..); None when they are more than `most`."""
    names = [_place(number) for number in range(len(rows.columns))]
    placed = rows.toDF(*names)
    if most is None:
        return placed.toArrow()
    found = placed.limit(most + 1).toArrow()
    return found if found.num_rows <= most else None


def again(live: SparkSession, rows: pa.Table, kinds: StructType) -> DataFrame:
    """Held rows as a frame of the columns `kinds`.

    Spark takes Arrow's local timestamps for moments, so all are cast back.
    """
    if rows.num_rows == 0:
        return live.createDataFrame([], kinds)
    frame = live.createDataFrame(rows.combine_chunks())
    return frame.select(
        *(
            F.col(_place(number)).cast(field.dataType).alias(field.name)
            for number, field in enumerate(kinds.fields)
        )
    )


def where(rows: pa.Table, kinds: StructType, name: str) -> pa.Table:
    """The held rows in which the column of that name is true."""
    return rows.filter(pc.fill_null(rows[_place(kinds.names.index(name))], False))  # noqa: FBT003


def _place(number: int) -> str:
    return "c" + str(number)
