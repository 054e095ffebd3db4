"""The steps of a maintained view that its base does not hold: in memory while they are few.

A process reads each small change file once, so that such a tail costs a query no Spark job.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.tables import schema
from ingest.tables.schema import DIFF, TIME
from ingest.tables.view_versions import Known, Made

MOST_ROWS = 200_000
_BROADCAST = 500_000
_MOST_FILES = 400
_KEPT_ROWS = 500_000


@dataclass(frozen=True)
class Tail:
    """Net changes of a view's rows: its columns and mz_diff. `small` ones fit a broadcast."""

    rows: DataFrame
    removes: bool
    small: bool


def tail(
    plane: Plane, session: SparkSession, known: Known, steps: Sequence[Made], held: Relation
) -> Tail | None:
    """What `steps` changed in sum, the columns `held`; None when nothing."""
    with_rows = [step for step in steps if step.rows]
    if not with_rows:
        return None
    whole = len(with_rows) == 1 and known.columns == len(held.columns)
    found = in_memory(plane, known, with_rows)
    if found is None:
        small = sum(step.rows for step in with_rows) <= _BROADCAST
        changes = in_spark(plane, session, known, with_rows, held)
        return Tail(_net(changes, held, whole=whole), removes=True, small=small)
    removes = bool(pc.any(pc.less(found[DIFF], 0)).as_py())
    changes = local(session, found.drop_columns([TIME]), held)
    return Tail(_net(changes, held, whole=whole), removes, small=True)


def in_memory(plane: Plane, known: Known, steps: Sequence[Made]) -> pa.Table | None:
    """The changes of `steps`, all columns that are read; None when they are too many or their
    files are gone."""
    found = raw(plane, known, steps)
    if found is None or not any(step.commit.hidden for step in steps):
        return found
    own = [f"c{number}" for number in range(known.columns)]
    return found.filter(pc.not_equal(found[DIFF], 0)).select([*own, TIME, DIFF])


def raw(plane: Plane, known: Known, steps: Sequence[Made]) -> pa.Table | None:
    """The same with hidden columns, and with the rows of which only those changed."""
    path = delta.changes_path(plane, known.shard)
    names = [name for step in steps for name in step.files]
    if len(names) > _MOST_FILES or sum(step.rows for step in steps) > MOST_ROWS:
        return None
    try:
        files = [_file(path, name) for name in names]
        return pa.concat_tables(files, promote_options="default")
    except FileNotFoundError:
        return None


def in_spark(
    plane: Plane, session: SparkSession, known: Known, steps: Sequence[Made], held: Relation
) -> DataFrame:
    """The changes of `steps`, which follow one another: the columns `held`, the time, mz_diff."""
    rows = raw_in_spark(plane, session, known, steps, held)
    return rows.where(F.col(DIFF) != 0) if any(step.commit.hidden for step in steps) else rows


def raw_in_spark(
    plane: Plane, session: SparkSession, known: Known, steps: Sequence[Made], held: Relation
) -> DataFrame:
    """The same, of hidden columns too, with the rows of which only those changed."""
    time = F.col(TIME)
    first, last = steps[0].time, steps[-1].time
    rows = session.read.format("delta").load(delta.changes_path(plane, known.shard))
    rows = rows.where((time >= first) & (time <= last))
    if known.void:
        rows = rows.where(~F.col("step").isin(*known.void))
    columns = [F.col(f"c{n}").alias(column.name) for n, column in enumerate(held.columns)]
    return rows.select(*columns, TIME, DIFF)


def local(session: SparkSession, changes: pa.Table, held: Relation) -> DataFrame:
    """Stored changes in memory as Spark's: the columns `held`, then what else there is of the
    time and mz_diff. Spark takes Arrow's local timestamps for moments, so all are cast back."""
    few = picked(changes, held)
    if few.num_rows == 0:
        return _nothing(session, few, held)
    return named(spark.local(session, few), few.column_names, held)


def picked(changes: pa.Table, held: Relation) -> pa.Table:
    """Of stored changes the columns of `held`, and what there is of the time and mz_diff."""
    also = [name for name in (TIME, DIFF) if name in changes.column_names]
    return changes.select([*(f"c{number}" for number in range(len(held.columns))), *also])


def named(rows: DataFrame, names: Sequence[str], held: Relation) -> DataFrame:
    """The same as Spark's, whose columns are `names`: by the names and of the types of `held`."""
    columns = [
        F.col(f"c{number}").cast(column.type.spark).alias(column.name)
        for number, column in enumerate(held.columns)
    ]
    return rows.select(*columns, *names[len(columns) :])


def _nothing(session: SparkSession, few: pa.Table, held: Relation) -> DataFrame:
    zero = F.lit(0).cast("bigint")
    also = [zero.alias(name) for name in few.column_names[len(held.columns) :]]
    return schema.empty(session, held).select("*", *also)


def counts(plane: Plane, shard: str, steps: Sequence[Made]) -> tuple[int, int]:
    """How many rows `steps` added and removed. Raises FileNotFoundError when files are gone."""
    path = delta.changes_path(plane, shard)
    found = [_counted(path, name) for step in steps if step.rows for name in step.files]
    return sum(added for added, _ in found), sum(removed for _, removed in found)


def _net(changes: DataFrame, held: Relation, *, whole: bool) -> DataFrame:
    """One step's changes are consolidated already, as long as they are `whole`."""
    names = [schema.quoted(name) for name in held.names]
    if whole:
        return changes.select(*names, DIFF)
    summed = changes.groupBy(*names).agg(F.sum(DIFF).alias(DIFF))
    return summed.where(F.col(DIFF) != 0)


def _file(path: str, name: str) -> pa.Table:
    """A change file without its step's id, read once."""
    place = (path, name)
    with _lock:
        found = _files.get(place)
    if found is None:
        found = pq.read_table(delta.read_file(path, name))
        found = found.drop_columns(["step"]).combine_chunks()
        with _lock:
            _files[place] = found
            while len(_files) > 1 and sum(t.num_rows for t in _files.values()) > _KEPT_ROWS:
                _files.popitem(last=False)
    return found


def _counted(path: str, name: str) -> tuple[int, int]:
    place = (path, name)
    if place not in _sums:
        with delta.open_file(path, name) as file:
            diffs = pq.read_table(file, columns=[DIFF])[DIFF]
        added = pc.sum(diffs.filter(pc.greater(diffs, 0))).as_py() or 0
        removed = pc.sum(diffs.filter(pc.less(diffs, 0))).as_py() or 0
        with _lock:
            _sums[place] = (int(added), -int(removed))
            while len(_sums) > 50_000:
                _sums.popitem(last=False)
        return int(added), -int(removed)
    return _sums[place]


_files: OrderedDict[tuple[str, str], pa.Table] = OrderedDict()
_sums: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()
_lock = threading.Lock()
