"""Between which keys a tail's changes lie, so that files of the base with others are left out.

What changes is often what is new: then the changed keys are near one another, and Delta knows of
each file the least and the greatest of its keys.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.tables import arrow_cast
from ingest.tables.schema import quoted

_ORDERED = frozenset({"string", "bigint", "int", "smallint", "date"})
"""Types whose order is the same here, in Spark and in a file's statistics."""


def of(keys: pa.ChunkedArray | pa.Array, source: Input) -> Column | None:
    """What every row of the base with one of the `keys` (a log's, as text) meets; None when there
    is nothing to say. Only the first column of a key is looked at."""
    if not source.key:
        return None
    kind = next(column.type for column in source.columns if column.name == source.key[0])
    whole = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    if kind.spark not in _ORDERED or not whole:
        return None
    values = arrow_cast.typed(arrow_cast.cells(whole, 0), kind)
    if values is None or values.null_count:
        return None
    ends = pc.min_max(values)
    least, most = (F.lit(ends[name].as_py()).cast(kind.spark) for name in ("min", "max"))
    column = F.col(quoted(source.key[0]))
    return (column >= least) & (column <= most)
