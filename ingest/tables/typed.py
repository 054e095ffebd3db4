"""Typed values of a tail in memory: each row is cast once, however often it is read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import arrow_cast, cast, schema
from ingest.tables.frontier import Frontier

_MOST_ROWS = 600_000
_MOST_TAILS = 500
_Place = tuple[Plane, Input, Frontier]


@dataclass(frozen=True)
class _Known:
    """The first rows of a tail, typed; `last` is the time and place of the last of them."""

    rows: pa.Table
    last: tuple[int, int]


_known: OrderedDict[_Place, _Known] = OrderedDict()
_lock = threading.Lock()


def rows(
    session: SparkSession, plane: Plane, source: Input, frontier: Frontier, raw: pa.Table
) -> pa.Table:
    """The ordered tail `raw` after `frontier`, row by row: `__fits`, key columns, the columns."""
    place = (plane, source, frontier)
    with _lock:
        known = _known.get(place)
    have = known.rows if known is not None and _continues(raw, known) else None
    if have is None:
        have = _cast(session, source, raw)
    elif have.num_rows < raw.num_rows:
        have = pa.concat_tables([have, _cast(session, source, raw.slice(have.num_rows))])
    else:
        return have.slice(0, raw.num_rows)
    with _lock:
        _known[place] = _Known(have.combine_chunks(), _last(raw, raw.num_rows))
        _known.move_to_end(place)
        while len(_known) > 1 and _is_full():
            _known.popitem(last=False)
    return have


def _is_full() -> bool:
    rows_kept = sum(known.rows.num_rows for known in _known.values())
    return rows_kept > _MOST_ROWS or len(_known) > _MOST_TAILS


def _continues(raw: pa.Table, known: _Known) -> bool:
    """Whether what is known is the beginning of the tail, or the tail the beginning of it."""
    if raw.num_rows < known.rows.num_rows:
        return _last(raw, raw.num_rows) <= known.last
    return _last(raw, known.rows.num_rows) == known.last


def _last(raw: pa.Table, count: int) -> tuple[int, int]:
    return raw["time"][count - 1].as_py(), raw["seq"][count - 1].as_py()


def _cast(session: SparkSession, source: Input, raw: pa.Table) -> pa.Table:
    """Here where every text is plain, which saves a job; else by Spark."""
    found = cast_here(source, raw)
    return cast_by_spark(session, source, raw) if found is None else found


def cast_here(source: Input, raw: pa.Table) -> pa.Table | None:
    """The rows typed in this process; None when a text needs Spark's judgement."""
    kinds = {c.name: c.type for c in source.columns}
    texts = raw["key"].combine_chunks()
    keys = [
        arrow_cast.typed(arrow_cast.cells(texts, i), kinds[name])
        for i, name in enumerate(source.key)
    ]
    values = arrow_cast.values(raw["after"].combine_chunks(), source.columns)
    if values is None or any(key is None for key in keys):
        return None
    fits = pa.repeat(pa.scalar(value=True), raw.num_rows)
    return pa.Table.from_arrays([fits, *keys, *values], names=_names(source))


def cast_by_spark(session: SparkSession, source: Input, raw: pa.Table) -> pa.Table:
    """The rows typed by Spark, which also says of each whether it fits."""
    kinds = {c.name: c.type for c in source.columns}
    keys = [
        cast.typed(F.get("key", i), kinds[name]).cast(kinds[name].spark).alias(f"__key_{i}")
        for i, name in enumerate(source.key)
    ]
    after = F.col("after")
    numbers = pa.array(np.arange(raw.num_rows))
    given = raw.select(["key", "after"]).append_column("__row", numbers)
    frame = spark.local(session, given).select(
        "__row",
        cast.all_fit(after, source.columns).alias("__fits"),
        *keys,
        *cast.values(after, source.columns),
    )
    columns = schema.collected(frame).sort_by("__row").drop_columns(["__row"]).columns
    return pa.Table.from_arrays(columns, names=_names(source))


def _names(source: Input) -> list[str]:
    keys = (f"__key_{i}" for i in range(len(source.key)))
    return ["__fits", *keys, *(column.name for column in source.columns)]
