"""A maintained view at a time: its base at a version and the steps that the base does not hold.

The changes' columns are called by their place (`c0`, ..), so that no name of a user's is in the
way of `mz_timestamp`, `mz_diff` and `step`, and so that their files can be read without Spark.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta
from ingest.contract.commands import Input, Segment
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.errors import IngestError
from ingest.tables import schema, trees, view_tail, view_versions
from ingest.tables.schema import DIFF, TIME, quoted
from ingest.tables.view_tail import Tail
from ingest.tables.view_versions import Known


def at(plane: Plane, session: SparkSession, source: Input, time: int) -> DataFrame:
    """The rows of the view `source` at `time` (ms), columns as its relation names them.

    Raises IngestError 22023 before its history, 55000 while it is not hydrated.
    """
    segment = segment_at(source, time)
    return of_shard(plane, session, (segment.shard, source.relation, source.key), time)


def segment_at(source: Input, time: int) -> Segment:
    """The part of the view's life that `time` (ms) is in."""
    for segment in reversed(source.segments):
        if segment.since <= time:
            return segment
    message = f"timestamp {time} is before the view's history begins"
    raise IngestError(message, hint="Choose a later AS OF.", sqlstate="22023")


def of_shard(
    plane: Plane, session: SparkSession, shard: tuple[str, Relation, Sequence[str]], time: int
) -> DataFrame:
    """The rows of a shard at `time`: `shard` is its name, the columns wanted of it, and columns
    that no two of its rows share, if known. Columns that it lacks are null."""
    name, relation, key = shard
    known = view_versions.require(plane, name)
    held = held_columns(relation, known)
    version = known.base(time)
    names = [quoted(column) for column in held.names]
    rows = delta.rows_at(session, delta.base_path(plane, name), version.version, names)
    steps = known.between(version.time, time)
    found = view_tail.tail(plane, session, known, steps, held)
    if found is not None:
        rows = merged(rows, found, held.names, key)
    return padded(rows, relation, held)


def held_columns(relation: Relation, known: Known) -> Relation:
    """The columns of `relation` that the shard has: later ones were added by a replacement."""
    return Relation(relation.columns[: known.columns])


def padded(rows: DataFrame, relation: Relation, held: Relation) -> DataFrame:
    """`rows` of the columns `held`, with nulls for the rest of `relation`; others are kept."""
    missing = relation.columns[len(held.columns) :]
    if not missing:
        return rows
    after = [name for name in rows.columns if name not in held.names]
    nulls = [F.lit(None).cast(column.type.spark).alias(column.name) for column in missing]
    return rows.select(*map(quoted, held.names), *nulls, *map(quoted, after))


def merged(
    rows: DataFrame, found: Tail, names: Sequence[str], key: Sequence[str] = ()
) -> DataFrame:
    """A multiset of rows and its net changes as one multiset. With a `key` of the rows, each
    change that takes one away is known by it."""
    columns = [F.col(quoted(name)) for name in names]
    added = repeated(found.rows.where(F.col(DIFF) > 0), columns, F.col(DIFF))
    if not found.removes:
        return rows.unionAll(added)
    gone = found.rows.where(F.col(DIFF) < 0)
    known = key if set(key) <= set(names) else ()
    distinct = gone.select(
        *(F.col(quoted(name)).alias(f"__gone_{n}") for n, name in enumerate(known or names))
    )
    same = _same(known or names)
    taken = F.broadcast(distinct) if found.small else distinct
    kept = rows.join(taken, same, "left_anti")
    if known:
        return kept.unionAll(added)
    again = rows.join(taken, same, "left_semi")
    rest = again.exceptAll(repeated(gone, columns, -F.col(DIFF)))
    return kept.unionAll(rest).unionAll(added)


def repeated(rows: DataFrame, columns: Sequence[Column], times: Column) -> DataFrame:
    """Each row as often as `times` says, which is at least once."""
    each = F.explode(F.array_repeat(F.lit(0), times.cast("int"))).alias("__n")
    return rows.select(*columns, each).select(*columns)


def net(changes: DataFrame, names: Sequence[str]) -> DataFrame:
    """Changes of any times consolidated: the columns and mz_diff, never 0."""
    summed = changes.groupBy(*map(quoted, names)).agg(F.sum(DIFF).alias(DIFF))
    return summed.where(F.col(DIFF) != 0)


def nothing(session: SparkSession, relation: Relation) -> DataFrame:
    """No changes of these columns."""
    return schema.empty(session, relation).select("*", F.lit(0).cast("bigint").alias(DIFF))


def minus(new: DataFrame, old: DataFrame, names: Sequence[str]) -> DataFrame:
    """The consolidated changes that make `new` of `old`."""
    return net(either(new, old, names), names)


def either(new: DataFrame, old: DataFrame, names: Sequence[str]) -> DataFrame:
    """The same, not consolidated."""
    columns = [quoted(name) for name in names]
    return both(new.select(*columns), old.select(*columns))


def both(new: DataFrame, old: DataFrame) -> DataFrame:
    """The same, not consolidated, of all columns."""
    more = new.select("*", F.lit(1).cast("bigint").alias(DIFF))
    return more.unionAll(old.select("*", F.lit(-1).cast("bigint").alias(DIFF)))


def stored(changes: DataFrame, relation: Relation, time: int, step: str) -> DataFrame:
    """Changes of `relation` as a shard keeps them: by place, with time (ms) and step."""
    columns = [
        F.col(quoted(column.name)).cast(column.type.spark).alias(f"c{number}")
        for number, column in enumerate(relation.columns)
    ]
    # A number would stand in the code that Spark makes of the step: each would be compiled anew.
    # An array is handed to it, as a text is; a constant place in it would make it a number again.
    stamp = F.get(F.array(F.lit(time).cast("bigint")), (F.col(DIFF) * 0).cast("int")).alias(TIME)
    return changes.select(
        *columns, stamp, F.col(DIFF).cast("bigint").alias(DIFF), F.lit(step).alias("step")
    )


def _same(names: Sequence[str]) -> Column:
    pairs = [
        F.col(quoted(name)).eqNullSafe(F.col(f"__gone_{number}"))
        for number, name in enumerate(names)
    ]
    return trees.join(operator.and_, pairs)
