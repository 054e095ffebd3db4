"""What a replacement would change in its target at one time."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import Input, Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Column as Field
from ingest.contract.relation import Relation
from ingest.contract.reports import ResultSet
from ingest.contract.types import BIGINT
from ingest.contract.views import Staged
from ingest.tables import collection, reading, schema, view_rows
from ingest.tables.schema import DIFF, quoted


def staged(
    plane: Plane, target: Input, replacement: Input, time: int, key: Sequence[str] = ()
) -> Staged:
    """Rows and bytes that would come and go; see `ingest.contract.views.Staged`."""

    def work(live: SparkSession) -> Staged:
        found = _difference(plane, live, target, replacement, time)
        return _counted(found, replacement.relation.names, key, time)

    return spark.run(plane, work, "views", repeat=True)


def compared(plane: Plane, old: Query, new: Query, key: Sequence[str] = ()) -> Staged:
    """The same for two queries; see `ingest.engine.compared`."""

    def work(live: SparkSession) -> Staged:
        after = reading.at_time(plane, live, new)
        before = reading.at_time(plane, live, old).toDF(*after.columns)
        found = view_rows.minus(after, before, after.columns)
        return _counted(found, after.columns, key, new.time)

    return spark.run(plane, work, "views", repeat=True)


def _counted(found: DataFrame, columns: Sequence[str], key: Sequence[str], time: int) -> Staged:
    bytes_of = F.octet_length(F.to_json(F.struct(*map(quoted, columns)))) * F.abs(DIFF)
    sides = (
        F.sum(F.greatest(F.col(DIFF), F.lit(0))).alias("added"),
        F.sum(F.greatest(-F.col(DIFF), F.lit(0))).alias("removed"),
        F.sum(bytes_of).alias("bytes"),
    )
    grouped = found.groupBy(*map(quoted, key)).agg(*sides)
    pairs = F.least("added", "removed") if key else F.lit(0)
    row = grouped.agg(
        F.sum(F.col("added") - pairs),
        F.sum(F.col("removed") - pairs),
        F.sum(pairs),
        F.sum("bytes"),
    ).collect()[0]
    added, removed, changed, size = (int(value or 0) for value in row)
    return Staged(added, removed, changed, size, time)


def rows(
    plane: Plane, target: Input, replacement: Input, time: int, limit: int | None
) -> ResultSet:
    """The changed rows themselves, those of one row beside each other."""
    own = Relation((Field(DIFF, BIGINT, nullable=False), *replacement.relation.columns))

    def work(live: SparkSession) -> ResultSet:
        found = _difference(plane, live, target, replacement, time)
        columns = [F.col(quoted(name)) for name in replacement.relation.names]
        first = [F.col(quoted(name)) for name in replacement.key]
        ordered = found.select(F.col(DIFF), *columns).orderBy(*_order(first, columns))
        data = schema.collected(ordered if limit is None else ordered.limit(limit))
        return ResultSet(own, schema.conform(data, own))

    return spark.run(plane, work, "views", repeat=True)


def _order(first: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """By key, what goes before what comes; without a key by value."""
    return [*first, F.col(DIFF), *columns] if first else [*columns, F.col(DIFF)]


def _difference(
    plane: Plane, live: SparkSession, target: Input, replacement: Input, time: int
) -> DataFrame:
    """The replacement's rows less the target's, whose missing columns are null."""
    new = collection.at(plane, live, replacement, time)
    old = collection.at(plane, live, target, time)
    whole = view_rows.padded(old, replacement.relation, target.relation)
    return view_rows.minus(new, whole, replacement.relation.names)
