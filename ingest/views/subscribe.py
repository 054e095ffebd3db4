"""The changes of a query that nobody maintains, for those who follow it for a while."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.reports import ResultSet
from ingest.contract.types import BIGINT, MZ_TIMESTAMP
from ingest.contract.views import Block, View
from ingest.errors import IngestError, Transient
from ingest.tables import activity, collection, net, reading, schema, view_rows
from ingest.tables.schema import DIFF, TIME
from ingest.views import frames, incremental, whole


def query_changes(plane: Plane, old: Query, new: Query) -> ResultSet:
    """What `new` gives less what `old` gives; see `ingest.engine.query_changes`."""

    def work(live: SparkSession) -> ResultSet:
        after, before = reading.at_time(plane, live, new), reading.at_time(plane, live, old)
        names = [f"c{place}" for place in range(len(after.columns))]
        made = view_rows.minus(after.toDF(*names), before.toDF(*names), names)
        return _told(made, schema.relation(after.schema).columns, new.time)

    return spark.run(plane, work, repeat=True)


def view_changes(plane: Plane, view: View, after: int, upto: int) -> ResultSet:
    """What the view's query gives at `upto` less what it gave at `after`; see `ingest.engine`."""
    if _can_follow(view.root):
        try:
            return _run(plane, view, lambda live: _followed(plane, live, view, after, upto))
        except Transient:
            raise
        except IngestError as error:
            if error.sqlstate == "57014":
                raise
    return _run(plane, view, lambda live: _again(plane, live, view, after, upto))


def _can_follow(block: Block) -> bool:
    """Whether a block's difference follows from changes alone, without the rows it had."""
    if block.kind in ("recompute", "topk") or not block.exact:
        return False
    return all(isinstance(child, str) or _can_follow(child) for child in block.children.values())


def _run(plane: Plane, view: View, make: Callable[[SparkSession], pa.Table]) -> ResultSet:
    columns = view.relation.columns

    def work(live: SparkSession) -> ResultSet:
        return _result(make(live), columns)

    return spark.run(plane, work, repeat=True)


def _followed(plane: Plane, live: SparkSession, view: View, after: int, upto: int) -> pa.Table:
    with frames.holder(live) as keep:
        new = whole.inputs(plane, live, view, upto)
        old = dict(new)
        changed: dict[str, DataFrame] = {}
        for name, source in view.inputs.items():
            found = activity.between(plane, source, after, upto)
            if not found.times:
                continue
            old[name] = collection.at(plane, live, source, after)
            moved = net.of(plane, live, source, (after, upto))
            kept = keep.net(moved, source.relation, found.rows)
            if kept is not None:
                changed[name] = kept.rows
        made = incremental.difference(live, view.root, old, new, changed).rows
        return schema.collected(_stamped(_net(made, view), upto))


def _again(plane: Plane, live: SparkSession, view: View, after: int, upto: int) -> pa.Table:
    new, old = whole.rows(plane, live, view, upto), whole.rows(plane, live, view, after)
    return schema.collected(_stamped(view_rows.minus(new, old, view.relation.names), upto))


def _net(made: DataFrame, view: View) -> DataFrame:
    return view_rows.net(frames.typed_changes(made, view.relation), view.relation.names)


def _stamped(changes: DataFrame, time: int) -> DataFrame:
    columns = [name for name in changes.columns if name != DIFF]
    stamp = F.lit(time).cast("bigint").alias(TIME)
    return changes.select(*columns, stamp, F.col(DIFF).cast("bigint").alias(DIFF))


def _told(changes: DataFrame, columns: tuple[Column, ...], time: int) -> ResultSet:
    return _result(schema.collected(_stamped(changes, time)), columns)


def _result(found: pa.Table, columns: tuple[Column, ...]) -> ResultSet:
    """Columns by place, then the time and the difference."""
    relation = Relation((*columns, Column(TIME, MZ_TIMESTAMP), Column(DIFF, BIGINT)))
    return ResultSet(relation, schema.conform(found, relation))
