"""Folding a view's steps into its base, so that reads stay cheap; old versions stay a while.

The base's frontier is in the commit that moves it, as with tables. Steps are kept for some hours
after they are folded: SUBSCRIBE and views over views begin in the past.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.feeds import failpoint
from ingest.tables import (
    retention,
    schema,
    view_hidden,
    view_rows,
    view_tail,
    view_versions,
)
from ingest.tables.view_versions import BaseCommit, Known, Made
from ingest.views import states

_ROWS = 10_000
_SHARE = 20
_STEPS = 200
_ROWS_PER_STEP = 50_000
_AGE = 6 * 3_600_000
_KEPT = 2 * 3_600_000
_APPENDS = 20


def fold(plane: Plane, shard: str, relation: Relation) -> bool:
    """Fold when due, then drop what is too old; see `ingest.engine.fold_view`."""
    known = view_versions.known(plane, shard)
    if known is None or len(relation.columns) < known.columns:
        return False
    steps = _tail(known)
    folded = due(known, steps)
    if folded:
        with spark.alone(plane, "views") as live:
            _fold(plane, live, known, view_rows.held_columns(relation, known))
        failpoint.hit("view folded")
    _trim(plane, shard)
    for path in (delta.base_path(plane, shard), delta.changes_path(plane, shard)):
        retention.clean_path(plane, path)
    return folded


def due(known: Known, steps: list[Made]) -> bool:
    """Whether the steps that the base lacks are many, large or old for the size of the base."""
    if not steps:
        return False
    rows, base = sum(step.rows for step in steps), known.bases[-1]
    many = len(steps) >= _STEPS + base.rows // _ROWS_PER_STEP
    large = rows >= max(_ROWS, base.rows // _SHARE)
    return many or large or known.time - steps[0].time >= _AGE


def _tail(known: Known) -> list[Made]:
    return [step for step in known.steps if step.time > known.bases[-1].time]


def _fold(plane: Plane, live: SparkSession, known: Known, held: Relation) -> None:
    """One commit; another folder that was faster makes it fail, and nothing is lost."""
    base = known.bases[-1]
    hidden = known.hidden
    few = base.commit.appended < _APPENDS
    if hidden is None:
        rows, append = _folded(plane, live, known, held, few=few)
    else:
        new = view_hidden.added(plane, live, known, held, hidden) if few else None
        append = new is not None
        rows = view_hidden.newest(plane, live, known, held, hidden) if new is None else new
    commit = BaseCommit(
        known.time,
        known.step,
        known.columns,
        states.rows(plane, known),
        base.bytes if append else 0,
        base.commit.appended + 1 if append else 0,
        hidden,
    )
    _write(rows, delta.base_path(plane, known.shard), commit, "append" if append else "overwrite")


def _folded(
    plane: Plane, live: SparkSession, known: Known, held: Relation, *, few: bool
) -> tuple[DataFrame, bool]:
    """The rows to write, and whether they are to be appended to those there."""
    found = view_tail.tail(plane, live, known, _tail(known), held)
    append = found is None or (not found.removes and few)
    if append:
        rows = schema.empty(live, held)
    else:
        path, names = delta.base_path(plane, known.shard), [*map(schema.quoted, held.names)]
        rows = delta.rows_at(live, path, known.bases[-1].version, names)
    return rows if found is None else view_rows.merged(rows, found, held.names), append


def _write(rows: DataFrame, path: str, commit: BaseCommit, mode: str) -> None:
    writer = rows.write.format("delta").mode(mode).option("userMetadata", commit.to_json())
    writer = writer.option("txnAppId", "fold").option("txnVersion", commit.time)
    writer.save(path)


def _trim(plane: Plane, shard: str) -> None:
    """Delete the steps that no read of the last hours begins before."""
    known = view_versions.require(plane, shard)
    horizon = known.time - _KEPT
    upto = max((base.time for base in known.bases if base.time <= horizon), default=-1)
    if upto <= max(known.trimmed, known.since):
        return
    with spark.alone(plane, "views") as live:
        live.conf.set(delta.METADATA, delta.trimmed_metadata(upto))
        delta.delete(live, delta.changes_path(plane, shard), schema.TIME, "<=", upto)
