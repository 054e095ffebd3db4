"""Few rows brought through this process, so that what follows does not compute them again."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.types import StructType

from ingest import spark
from ingest.tables.schema import collected

MOST_ROWS = 200_000
_SORTED_ALIKE = (
    pa.types.is_boolean,
    pa.types.is_signed_integer,
    pa.types.is_string,
    pa.types.is_binary,
    pa.types.is_decimal128,
    pa.types.is_date32,
    pa.types.is_timestamp,
)


def brought(rows: DataFrame, kinds: StructType) -> pa.Table:
    """The rows, whose columns are `kinds`, each called by its place (`c0`, ..)."""
    return collected(rows.toDF(*(_place(number) for number in range(len(kinds)))))


def held(rows: DataFrame, kinds: StructType) -> pa.Table | None:
    """The same; None when they are more than `MOST_ROWS`."""
    found = brought(rows.limit(MOST_ROWS + 1), kinds)
    return found if found.num_rows <= MOST_ROWS else None


def again(
    live: SparkSession,
    rows: pa.Table,
    kinds: StructType,
    make: Callable[[pa.Table], DataFrame] | None = None,
) -> DataFrame:
    """Held rows as a frame of the columns `kinds`; `make` is how they go to Spark.

    Spark takes Arrow's local timestamps for moments, so all are cast back.
    """
    if rows.num_rows == 0:
        return live.createDataFrame([], kinds)
    frame = spark.local(live, rows) if make is None else make(rows)
    return frame.select(
        *(
            F.col(_place(number)).cast(field.dataType).alias(field.name)
            for number, field in enumerate(kinds.fields)
        )
    )


def where(rows: pa.Table, kinds: StructType, name: str) -> pa.Table:
    """The held rows in which the column of that name is true."""
    return rows.filter(pc.fill_null(rows[_place(kinds.names.index(name))], False))  # noqa: FBT003


def sorted_alike(kind: pa.DataType) -> bool:
    """Whether Arrow sorts values of the type as Spark does, and takes the same ones for equal."""
    return any(test(kind) for test in _SORTED_ALIKE)


def _place(number: int) -> str:
    return "c" + str(number)
