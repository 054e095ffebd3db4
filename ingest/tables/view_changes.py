"""A maintained view's changes between two times, across the switches to its replacements."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import view_rows, view_tail, view_versions
from ingest.tables.schema import DIFF, TIME, quoted


@dataclass(frozen=True)
class Part:
    """The steps of `shard` with `begin` < time <= `end` (ms) are the view's. If `switched`, the
    shard was put in force at `begin`, within the span that was asked for."""

    shard: str
    begin: int
    end: int
    switched: bool


def parts(source: Input, after: int, upto: int) -> list[Part]:
    """Which shards hold a view's changes with `after` < time <= `upto`."""
    found: list[Part] = []
    ends = [segment.since - 1 for segment in source.segments[1:]] + [upto]
    for number, (segment, end) in enumerate(zip(source.segments, ends, strict=True)):
        switched = number > 0 and after < segment.since <= upto
        begin = max(after, segment.since) if number else after
        if switched or begin < min(end, upto):
            found.append(Part(segment.shard, begin, min(end, upto), switched))
    return found


def frames(
    plane: Plane, session: SparkSession, source: Input, after: int, upto: int
) -> list[DataFrame]:
    """Frames of the columns, mz_timestamp, mz_diff: the changes with `after` < time <= `upto`.

    At a switch they are the difference of the new data then and the old just before. Raises
    IngestError 22023 when some of them are gone.
    """
    found: list[DataFrame] = []
    for part in parts(source, after, upto):
        if part.switched:
            found.append(_switch(plane, session, source, part.begin))
        steps = _steps(plane, session, source, part)
        if steps is not None:
            found.append(steps)
    return found


def in_memory(plane: Plane, source: Input, after: int, upto: int) -> pa.Table | None:
    """The changes of the span without Spark: columns, mz_timestamp, mz_diff. None where it takes
    Spark to know them."""
    found = parts(source, after, upto)
    if len(found) != 1 or found[0].switched:
        return None
    known = view_versions.require(plane, found[0].shard)
    steps = [step for step in known.between(found[0].begin, found[0].end) if step.rows]
    if not steps or known.columns != len(source.relation.columns):
        return None
    table = view_tail.in_memory(plane, known, steps)
    return None if table is None else table.combine_chunks()


def _switch(plane: Plane, session: SparkSession, source: Input, time: int) -> DataFrame:
    new = view_rows.at(plane, session, source, time)
    old = view_rows.at(plane, session, source, time - 1)
    changed = view_rows.minus(new, old, source.relation.names)
    return _ordered(changed.withColumn(TIME, F.lit(time).cast("bigint")), source)


def _steps(plane: Plane, session: SparkSession, source: Input, part: Part) -> DataFrame | None:
    known = view_versions.require(plane, part.shard)
    steps = [step for step in known.between(part.begin, part.end) if step.rows]
    if not steps:
        return None
    held = view_rows.held_columns(source.relation, known)
    table = view_tail.in_memory(plane, known, steps)
    if table is not None:
        changes = view_tail.local(session, table, held)
    else:
        changes = view_tail.in_spark(plane, session, known, steps, held)
    if known.columns > len(held.columns):
        grouped = changes.groupBy(*map(quoted, held.names), TIME).agg(F.sum(DIFF).alias(DIFF))
        changes = grouped.where(F.col(DIFF) != 0)
    return _ordered(view_rows.padded(changes, source.relation, held), source)


def _ordered(changes: DataFrame, source: Input) -> DataFrame:
    return changes.select(*map(quoted, source.relation.names), TIME, DIFF)
