"""Plain tables: written by INSERT, UPDATE and DELETE, each one Delta commit at one time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from pyspark.sql import Column, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.commands import Input, Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.tables import plain_versions, reading, schema
from ingest.tables.collection import quoted

_writing = threading.Lock()


def create(plane: Plane, shard: str, relation: Relation, time: int) -> None:
    """Make an empty table; nothing happens when it is there."""
    path = delta.base_path(plane, shard)
    if delta.latest(path) >= 0:
        return

    def work(live: SparkSession) -> None:
        delta.append(
            schema.empty(live, relation),
            path,
            plain_versions.first_metadata(time),
            {**schema.properties(relation), "delta.enableChangeDataFeed": "true"},
        )

    spark.run(plane, work, repeat=False)


def insert(plane: Plane, target: Input, source: Query, time: int) -> int:
    """Append the rows of a query, columns by place; returns how many.

    Raises IngestError 23502 for a null in a NOT NULL column, 22xxx for a value that does not fit.
    """

    def work(live: SparkSession) -> None:
        found = reading.at_time(plane, live, source).toDF(*target.relation.names)
        columns = [
            _checked(c.name, nullable=c.nullable).cast(c.type.spark).alias(c.name)
            for c in target.relation.columns
        ]
        path = delta.base_path(plane, target.shard)
        delta.append(found.select(*columns), path, plain_versions.metadata(time))

    spark.run(plane, work, repeat=False)
    return _affected(plane, target, time, "numOutputRows")


def update(
    plane: Plane, target: Input, assignments: Mapping[str, str], where: str | None, time: int
) -> int:
    """Set columns where the Spark expression holds; returns how many rows changed."""
    kinds = {c.name: c.type.spark for c in target.relation.columns}
    values = {quoted(name): F.expr(text).cast(kinds[name]) for name, text in assignments.items()}

    def work(live: SparkSession) -> None:
        one = live.range(1).toDF("__one")
        into = one.mergeInto(_table(plane, target), _holds(where))
        into.whenMatched().update(values).merge()

    return _change(plane, target, time, work, "numTargetRowsUpdated")


def delete(plane: Plane, target: Input, where: str | None, time: int) -> int:
    """Delete rows where the Spark expression holds; returns how many."""

    def work(live: SparkSession) -> None:
        one = live.range(1).toDF("__one")
        one.mergeInto(_table(plane, target), _holds(where)).whenMatched().delete().merge()

    return _change(plane, target, time, work, "numTargetRowsDeleted")


def written(plane: Plane, shard: str, time: int) -> int | None:
    """Rows of the write at `time` (ms); None when the table has no such commit."""
    path = delta.base_path(plane, shard)
    made = delta.find(path, lambda version: plain_versions.time_of(version) == time)
    if made is None:
        return None
    names = ("numTargetRowsUpdated", "numTargetRowsDeleted", "numOutputRows")
    counts = [int(made.metrics.get(name, 0)) for name in names]
    return counts[2] if made.operation == "WRITE" else max(counts[:2])


def _change(
    plane: Plane,
    target: Input,
    time: int,
    work: Callable[[SparkSession], None],
    metric: str,
) -> int:
    def committed(live: SparkSession) -> None:
        live.conf.set(delta.METADATA, plain_versions.metadata(time))
        try:
            work(live)
        finally:
            live.conf.unset(delta.METADATA)

    with _writing:
        spark.run(plane, committed, "write", repeat=False)
    return _affected(plane, target, time, metric)


def _holds(where: str | None) -> Column:
    return F.lit(True) if where is None else F.expr(where)  # noqa: FBT003


def _table(plane: Plane, target: Input) -> str:
    return delta.name(delta.base_path(plane, target.shard))


def _checked(name: str, *, nullable: bool) -> Column:
    if nullable:
        return F.col(quoted(name))
    message = f'null value in column "{name}" violates not-null constraint'
    return F.coalesce(F.col(quoted(name)), F.raise_error(F.lit(message)))


def _affected(plane: Plane, target: Input, time: int, metric: str) -> int:
    path = delta.base_path(plane, target.shard)
    made = delta.find(path, lambda version: plain_versions.time_of(version) == time)
    return int(made.metrics.get(metric, 0)) if made else 0
