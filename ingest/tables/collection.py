"""A table at a time: its base at a version, minus what the tail touched, plus what it made."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta
from ingest.contract.commands import ExportColumn, Input
from ingest.contract.plane import Plane
from ingest.tables import cast, frontier, plain_versions, tail, trees, view_rows
from ingest.tables.pending import Pending, pending
from ingest.tables.schema import quoted as quoted


def at(plane: Plane, session: SparkSession, source: Input, time: int) -> DataFrame:
    """The rows of `source` at `time` (ms), columns as its relation names them.

    Raises IngestError when it cannot be read at that time.
    """
    if source.segments:
        return view_rows.at(plane, session, source, time)
    if not source.feed:
        return base(plane, session, source, plain_versions.at(plane, source.shard, time))
    known = frontier.at(plane, source.shard, time)
    rows = base(plane, session, source, known.version)
    if known.time < time:
        tail.log(plane, source.feed).reach(time)
    found = pending(session, plane, source, known, time)
    return rows if found is None else merged(rows, found, source)


def base(plane: Plane, session: SparkSession, source: Input, version: int) -> DataFrame:
    """The rows that a table's Delta files hold at a version."""
    names = [quoted(name) for name in source.relation.names]
    return delta.rows_at(session, delta.base_path(plane, source.shard), version, names)


def merged(rows: DataFrame, found: Pending, source: Input) -> DataFrame:
    """Base rows and a reduced tail as one table."""
    if found.typed and found.truncated:
        return found.rows
    if found.typed and not source.key:
        return rows.unionAll(found.rows)
    return _keyed(rows, found, source) if source.key else _keyless(rows, found, source)


def touched(found: Pending, source: Input) -> DataFrame:
    """The keys that the tail speaks of, typed, under their columns' names with a prefix."""
    return found.rows.select(*touched_keys(source))


def touched_keys(source: Input) -> list[Column]:
    """The key columns of a reduced tail, typed and named for `same_key`."""
    kinds = {c.name: c.type for c in source.columns}
    return [
        cast.typed(F.get("key", i), kinds[name]).cast(kinds[name].spark).alias(f"__key_{i}")
        for i, name in enumerate(source.key)
    ]


def same_key(source: Input) -> Column:
    """Whether a base row has the key of a `touched` row."""
    pairs = [F.col(quoted(n)) == F.col(f"__key_{i}") for i, n in enumerate(source.key)]
    return trees.join(operator.and_, pairs)


def fill(columns: Sequence[ExportColumn]) -> list[Column]:
    """A row's columns where upstream left some out: those come from the base row beside it."""
    after = F.col("__after")
    return [
        F.when(F.array_contains("__missing", c.upstream_position), F.col(quoted(c.name)))
        .otherwise(cast.typed(cast.cell(after, c), c.type).cast(c.type.spark))
        .alias(c.name)
        for c in columns
    ]


def _keyed(rows: DataFrame, found: Pending, source: Input) -> DataFrame:
    if found.keys is not None:
        same = same_key(source)
        return rows.join(F.broadcast(found.keys), same, "left_anti").unionAll(found.rows)
    columns = source.columns
    present = found.rows.where((F.col("op") != "d") & cast.all_fit(F.col("after"), columns))
    whole = F.size(F.coalesce(F.col("missing"), F.array().cast("array<int>"))) == 0
    complete = present.where(whole) if found.incomplete else present
    made = complete.select(*cast.values(F.col("after"), columns))
    if found.truncated:
        return made
    kept = rows.join(_small(touched(found, source), found), same_key(source), "left_anti")
    result = kept.unionAll(made)
    if not found.incomplete:
        return result
    return result.unionAll(_patched(rows, present.where(~whole), found, source))


def _small(joined: DataFrame, found: Pending) -> DataFrame:
    """The frame, for a broadcast unless the tail is large: Spark's one process holds it whole."""
    return joined if found.large else F.broadcast(joined)


def _patched(rows: DataFrame, partial: DataFrame, found: Pending, source: Input) -> DataFrame:
    left_out = F.col("missing").alias("__missing")
    patch = partial.select(*touched_keys(source), F.col("after").alias("__after"), left_out)
    return rows.join(_small(patch, found), same_key(source)).select(*fill(source.columns))


def _keyless(rows: DataFrame, found: Pending, source: Input) -> DataFrame:
    after, diff = F.col("after"), F.col("diff")
    fitting = found.rows.where(cast.all_fit(after, source.columns))
    typed = cast.values(after, source.columns)
    times = F.explode(F.sequence(F.lit(1), F.abs(diff).cast("int"))).alias("__n")
    names = [quoted(c.name) for c in source.columns]
    made = fitting.where(diff > 0).select(*typed, times).select(*names)
    if found.truncated:
        return made
    if not found.retracts:
        return rows.unionAll(made)
    gone = fitting.where(diff < 0).select(*typed, times).select(*names)
    distinct = _small(_renamed(gone, source), found)
    pairs = [F.col(n).eqNullSafe(F.col(f"__gone_{i}")) for i, n in enumerate(names)]
    same = trees.join(operator.and_, pairs)
    kept = rows.join(distinct, same, "left_anti")
    rest = rows.join(distinct, same, "left_semi").exceptAll(gone)
    return kept.unionAll(rest).unionAll(made)


def _renamed(gone: DataFrame, source: Input) -> DataFrame:
    return gone.toDF(*(f"__gone_{i}" for i in range(len(source.columns))))
