"""Hidden columns of a maintained view: what a step needs of its groups beside what is read.

A step's change that adds a row has the row's hidden values with it; one that takes a row away has
none. Of a row of which nothing but hidden values changed, the new ones come with an mz_diff of 0.
So what is read is never touched by them, and the newest change of a key has all of its row.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.tables import trees, view_tail
from ingest.tables.schema import DIFF, TIME, quoted
from ingest.tables.view_versions import Hidden, Known

_LAST, _ROW = "__last", "__row"
_BROADCAST = 500_000


def wide(held: Relation, hidden: Hidden) -> Relation:
    """A shard's columns and the hidden ones behind them."""
    return Relation((*held.columns, *hidden.columns))


def newest(
    plane: Plane, session: SparkSession, known: Known, held: Relation, hidden: Hidden
) -> DataFrame:
    """The rows of a shard after its newest step, with their hidden columns."""
    every = wide(held, hidden)
    base = known.bases[-1]
    names = [quoted(name) for name in every.names]
    rows = delta.rows_at(session, delta.base_path(plane, known.shard), base.version, names)
    steps = [step for step in known.steps if step.time > base.time and step.rows]
    if not steps:
        return rows
    table = view_tail.raw(plane, known, steps)
    if table is not None and (few := few_newest(table, hidden)) is not None:
        return _beside_few(session, rows, few, every, hidden)
    key = [held.names[place] for place in hidden.key]
    changes = view_tail.raw_in_spark(plane, session, known, steps, every)
    last = _last(changes, every.names, key)
    gone = last.select(*(F.col(quoted(k)).alias(f"__gone_{n}") for n, k in enumerate(key)))
    large = sum(step.rows for step in steps) > _BROADCAST
    kept = _without(rows, gone if large else F.broadcast(gone), key)
    return kept.unionAll(last.where(F.col(_LAST) >= 0).select(*names))


def few_newest(changes: pa.Table, hidden: Hidden) -> pa.Table | None:
    """The newest change of each key, found in this process; None where only Spark can say which
    keys are the same."""
    keys = [f"c{place}" for place in hidden.key]
    if any(pa.types.is_floating(changes[key].type) for key in keys):
        return None
    ordered = changes.sort_by([(TIME, "ascending"), (DIFF, "ascending")])
    placed = ordered.select(keys).append_column(_LAST, pa.array(np.arange(ordered.num_rows)))
    try:
        found = placed.group_by(keys).aggregate([(_LAST, "max")])
    # Arrow does not group by keys of every type.
    except pa.ArrowNotImplementedError:
        return None
    return ordered.take(found[f"{_LAST}_max"])


def _beside_few(
    session: SparkSession, rows: DataFrame, last: pa.Table, every: Relation, hidden: Hidden
) -> DataFrame:
    """The base's `rows` less those whose key changed, and what became of these."""
    key = [every.names[place] for place in hidden.key]
    gone = view_tail.local(session, last, every).select(
        *(F.col(quoted(k)).alias(f"__gone_{n}") for n, k in enumerate(key))
    )
    kept = _without(rows, F.broadcast(gone), key)
    there = last.filter(pc.greater_equal(last[DIFF], 0)).drop_columns([TIME, DIFF])
    return kept.unionAll(view_tail.local(session, there, every))


def _without(rows: DataFrame, gone: DataFrame, key: Sequence[str]) -> DataFrame:
    same = [F.col(quoted(k)).eqNullSafe(F.col(f"__gone_{n}")) for n, k in enumerate(key)]
    return rows.join(gone, trees.join(operator.and_, same), "left_anti")


def added(
    plane: Plane, session: SparkSession, known: Known, held: Relation, hidden: Hidden
) -> DataFrame | None:
    """The rows that the steps after the newest base added, when they did nothing else."""
    steps = [step for step in known.steps if step.time > known.bases[-1].time and step.rows]
    table = view_tail.raw(plane, known, steps) if steps else None
    if table is None or pc.any(pc.less(table[DIFF], 1)).as_py():
        return None
    every = wide(held, hidden)
    return view_tail.local(session, table, every).select(*map(quoted, every.names))


def net(changes: DataFrame, names: Sequence[str], hidden: Sequence[str]) -> DataFrame:
    """One step's changes consolidated: `names`, the `hidden` columns and mz_diff.

    No two rows that come are equal in the `names`, and no two that go: the key is one of them.
    Spark hashes single columns, where it would sort for structs of them.
    """
    sides = [
        F.max(F.when(test, F.col(quoted(name)))).alias(f"__{side}_{number}")
        for side, test in (("came", F.col(DIFF) > 0), ("went", F.col(DIFF) < 0))
        for number, name in enumerate(hidden)
    ]
    summed = changes.groupBy(*map(quoted, names)).agg(F.sum(DIFF).alias(DIFF), *sides)
    apart = [
        ~F.col(f"__came_{number}").eqNullSafe(F.col(f"__went_{number}"))
        for number in range(len(hidden))
    ]
    moved = trees.join(operator.or_, [F.col(DIFF) != 0, *apart])
    own = [F.col(f"__came_{number}").alias(name) for number, name in enumerate(hidden)]
    return summed.where(moved).select(*map(quoted, names), *own, DIFF)


def _last(changes: DataFrame, names: Sequence[str], key: Sequence[str]) -> DataFrame:
    """The newest change of each key, its mz_diff as `__last`: a row that goes and comes again at
    the same time is there."""
    order: Column = F.struct(TIME, DIFF)
    row = F.struct(*map(quoted, names), F.col(DIFF).alias(_LAST))
    found = changes.groupBy(*(F.col(quoted(k)).alias(f"__key_{n}") for n, k in enumerate(key)))
    return found.agg(F.max_by(row, order).alias(_ROW)).select(f"{_ROW}.*")
