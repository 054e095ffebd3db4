"""A table's changes between two times: what maintained views, sinks and SUBSCRIBE live on.

Most of them follow from the log; where that is not enough (a TRUNCATE, a plain table's UPDATE)
they are the difference of the table before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.contract.relation import Column as Field
from ingest.contract.relation import Relation
from ingest.contract.reports import ResultSet
from ingest.contract.types import BIGINT, MZ_TIMESTAMP
from ingest.tables import (
    cast,
    collection,
    frontier,
    log_changes,
    moves,
    plain_tail,
    plain_versions,
    schema,
    tail,
    told,
    trees,
    view_changes,
    view_tail,
)
from ingest.tables.frontier import Frontier
from ingest.tables.schema import DIFF, TIME, quoted


def changes(plane: Plane, source: Input, after: int, upto: int) -> ResultSet:
    """Typed rows with the time (ms) they changed at and by how many; see `ingest.engine.changes`.

    Changes of one time are consolidated: a row comes once with a time, never with a difference
    of 0. Raises IngestError when the log does not reach back to `after`.
    """

    own = Relation((*source.relation.columns, Field(TIME, MZ_TIMESTAMP), Field(DIFF, BIGINT)))
    if source.segments:
        known = view_changes.in_memory(plane, source, after, upto)
        if known is not None:
            return ResultSet(own, schema.conform(known, own))

    def work(live: SparkSession) -> ResultSet:
        known = log_changes.in_memory(plane, live, source, (after, upto))
        if known is not None:
            return ResultSet(own, schema.conform(told.consolidated(known), own))
        found = schema.collected(frame(plane, live, source, after, upto))
        return ResultSet(own, schema.conform(found, own))

    return spark.run(plane, work, repeat=True)


def frame(plane: Plane, live: SparkSession, source: Input, after: int, upto: int) -> DataFrame:
    """The same as a frame; the looks at the log that planning it takes are done at once."""
    steps = _steps(plane, live, source, (after, upto))
    nothing = schema.empty(live, source.relation).select("*", *_stamp(0, 0))
    return trees.join(lambda left, right: left.unionAll(right), [nothing, *steps])


def _steps(
    plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]
) -> list[DataFrame]:
    if source.segments:
        return view_changes.frames(plane, live, source, *span)
    if source.feed:
        return _by_log(plane, live, source, *span)
    return _by_versions(plane, live, source, *span)


def _by_versions(
    plane: Plane, live: SparkSession, source: Input, after: int, upto: int
) -> list[DataFrame]:
    known = delta.versions(delta.base_path(plane, source.shard))
    if plain_versions.recorded(known):
        found = recorded(plane, live, source, (after, upto))
        return [] if found is None else [_consolidated(found, source)]
    times = {plain_versions.time_of(version) for version in known}
    return [
        _difference(plane, live, source, time)
        for time in sorted(time for time in times if time is not None and after < time <= upto)
    ]


def recorded(
    plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]
) -> DataFrame | None:
    """Columns, time and mz_diff of what a plain table's commits recorded for a span (ms), not
    consolidated; None when it recorded nothing."""
    table = plain_tail.in_memory(plane, source, *span)
    if table is not None:
        return view_tail.local(live, table, source.relation)
    known = delta.versions(delta.base_path(plane, source.shard))
    times = plain_versions.between(known, *span) if plain_versions.recorded(known) else {}
    if not times:
        return None
    reader = live.read.format("delta").option("readChangeFeed", "true")
    reader = reader.option("startingVersion", min(times)).option("endingVersion", max(times))
    found = reader.load(delta.base_path(plane, source.shard))
    came = F.col("_change_type").isin("insert", "update_postimage")
    pairs = [F.lit(number).cast("bigint") for pair in times.items() for number in pair]
    return found.select(
        *_names(source),
        F.create_map(*pairs)[F.col("_commit_version")].alias(TIME),
        F.when(came, 1).otherwise(-1).cast("bigint").alias(DIFF),
    )


def _by_log(
    plane: Plane, live: SparkSession, source: Input, after: int, upto: int
) -> list[DataFrame]:
    base = frontier.at(plane, source.shard, after)
    start = Frontier(base.version, after, base.position)
    log = tail.log(plane, source.feed)
    log.reach(after)
    raw = log.frame(live, source.reference, start, upto)
    special = raw.where((F.col("op") == "t") | moves.is_move()).select("time", "op").distinct()
    found = special.orderBy("time").collect()
    if source.key and any(row["op"] == "i" for row in found):
        whole = log.frame(live, source.reference, base, upto)
        raw = moves.in_spark(whole, moves.Base(live, plane, source, base.version))
        raw = raw.where(F.col("time") > after)
    steps: list[DataFrame] = []
    for row in [row for row in found if row["op"] == "t"]:
        steps.append(_between(plane, live, source, raw, (after, row["time"] - 1)))
        steps.append(_difference(plane, live, source, row["time"]))
        after = row["time"]
    return [*steps, _between(plane, live, source, raw, (after, upto))]


def _difference(plane: Plane, live: SparkSession, source: Input, time: int) -> DataFrame:
    """What the table is at a time, less what it was just before."""
    new = collection.at(plane, live, source, time).select("*", F.lit(1).alias(DIFF))
    path = delta.base_path(plane, source.shard)
    first = next(iter(delta.versions(path)), None)
    if not source.feed and first is not None and plain_versions.time_of(first) == time:
        return new.select(*_names(source), *_stamp(time, 1))
    old = collection.at(plane, live, source, time - 1).select("*", F.lit(-1).alias(DIFF))
    both = new.unionAll(old).groupBy(*_names(source)).agg(F.sum(DIFF).alias(DIFF))
    changed = both.where(F.col(DIFF) != 0)
    return changed.select(*_names(source), F.lit(time).cast("bigint").alias(TIME), DIFF)


def _between(
    plane: Plane, live: SparkSession, source: Input, raw: DataFrame, span: tuple[int, int]
) -> DataFrame:
    after, upto = span
    rows = raw.where((F.col("time") > after) & (F.col("time") <= upto))
    if not source.key:
        return _consolidated(_moves(rows, source), source)
    before = collection.at(plane, live, source, after)
    versions = _versions(before, rows, source, after)
    return _consolidated(_moves_of_keys(versions, source, after), source)


def _moves(rows: DataFrame, source: Input) -> DataFrame:
    def side(name: str, diff: int) -> DataFrame:
        row = F.col(name)
        whole = rows.where(row.isNotNull() & cast.all_fit(row, source.columns))
        return whole.select(
            *cast.values(row, source.columns), F.col("time").alias(TIME), F.lit(diff).alias(DIFF)
        )

    return side("after", 1).unionAll(side("before", -1))


def _versions(before: DataFrame, rows: DataFrame, source: Input, after: int) -> DataFrame:
    """Every version of every touched key: key columns, __time, __seq, __row (null: deleted)."""
    row, columns = F.col("after"), source.columns
    keys = [key.alias(f"__key_{i}") for i, key in enumerate(collection.touched_keys(source))]
    logged = rows.select(
        *keys,
        F.col("time").alias("__time"),
        F.col("seq").alias("__seq"),
        ((F.col("op") != "d") & cast.all_fit(row, columns)).alias("__alive"),
        *(
            F.when(
                ~F.array_contains(F.coalesce("unchanged", _no_positions()), c.upstream_position),
                F.struct(cast.typed(cast.cell(row, c), c.type).cast(c.type.spark).alias("v")),
            ).alias(f"__c{i}")
            for i, c in enumerate(columns)
        ),
    )
    touched = F.broadcast(logged.select(*(f"__key_{i}" for i in range(len(keys)))).distinct())
    first = before.join(touched, collection.same_key(source)).select(
        *(f"__key_{i}" for i in range(len(keys))),
        F.lit(after).cast("bigint").alias("__time"),
        F.lit(-1).cast("bigint").alias("__seq"),
        F.lit(True).alias("__alive"),  # noqa: FBT003
        *(
            F.struct(F.col(quoted(c.name)).alias("v")).alias(f"__c{i}")
            for i, c in enumerate(columns)
        ),
    )
    return first.unionAll(logged)


def _moves_of_keys(versions: DataFrame, source: Input, after: int) -> DataFrame:
    keys = [f"__key_{i}" for i in range(len(source.key))]
    order = Window.partitionBy(*keys).orderBy("__time", "__seq")
    cells = [
        F.last(f"__c{i}", ignorenulls=True).over(order)["v"].alias(c.name)
        for i, c in enumerate(source.columns)
    ]
    whole = versions.select(
        *keys, "__time", "__seq", F.when(F.col("__alive"), F.struct(*cells)).alias("__row")
    )
    backwards = Window.partitionBy(*keys, "__time").orderBy(F.desc("__seq"))
    final = whole.withColumn("__n", F.row_number().over(backwards)).where(F.col("__n") == 1)
    in_time = Window.partitionBy(*keys).orderBy("__time")
    moved = final.withColumn("__old", F.lag("__row").over(in_time))
    moved = moved.where((F.col("__time") > after) & ~F.col("__row").eqNullSafe(F.col("__old")))

    def side(name: str, diff: int) -> DataFrame:
        present = moved.where(F.col(name).isNotNull())
        return present.select(f"{name}.*", F.col("__time").alias(TIME), F.lit(diff).alias(DIFF))

    return side("__row", 1).unionAll(side("__old", -1))


def _consolidated(moves: DataFrame, source: Input) -> DataFrame:
    summed = moves.groupBy(*_names(source), TIME).agg(F.sum(DIFF).alias(DIFF))
    return summed.where(F.col(DIFF) != 0)


def _stamp(time: int, diff: int) -> Sequence[Column]:
    return F.lit(time).cast("bigint").alias(TIME), F.lit(diff).cast("bigint").alias(DIFF)


def _names(source: Input) -> list[str]:
    return [quoted(name) for name in source.relation.names]


def _no_positions() -> Column:
    return F.array().cast("array<int>")
