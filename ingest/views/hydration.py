"""The first computation of a view: all of its query at one time, in one Delta commit."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.views import Hydration, Step, View
from ingest.feeds import failpoint
from ingest.tables import schema, view_rows, view_versions
from ingest.tables.schema import DIFF, TIME
from ingest.tables.view_versions import BaseCommit, Hidden, Known
from ingest.views import partials, running, whole

_PROPERTIES = {
    "delta.checkpointInterval": "100",
    "delta.logRetentionDuration": "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 2 hours",
}


def hydrate(
    plane: Plane, view: View, time: int, tag: str, progress: Callable[[Hydration], None]
) -> Step:
    """Compute the view at `time` (ms); see `ingest.engine.hydrate_view`."""
    found = view_versions.known(plane, view.shard)
    if found is None:
        with running.alone(plane, tag) as work:
            hidden = partials.planned(plane, work.live, view, time)
            _begin(plane, work.live, partials.widened(view, hidden))
            failpoint.hit("view computing")
            with running.followed(work, delta.base_path(plane, view.shard), progress):
                _write(plane, work.live, view, time, hidden)
        failpoint.hit("view hydrated")
        found = view_versions.require(plane, view.shard)
    return _done(found)


def _done(found: Known) -> Step:
    first = found.bases[0]
    return Step(first.time, first.time, first.rows, 0, "hydrate")


def _begin(plane: Plane, live: SparkSession, view: View) -> None:
    """Make the place for the steps, so that each step is a plain append."""
    path = delta.changes_path(plane, view.shard)
    if delta.latest(path) >= 0:
        return
    nothing = schema.empty(live, view.relation).withColumn(DIFF, F.lit(0))
    changes = view_rows.stored(nothing, view.relation, 0, "")
    try:
        delta.append(changes, path, "", {**_PROPERTIES, "delta.dataSkippingStatsColumns": TIME})
    except spark.FAILURES:
        if delta.latest(path) < 0:
            raise


def _write(plane: Plane, live: SparkSession, view: View, time: int, hidden: Hidden | None) -> None:
    """The base's first commit; another that was faster stands."""
    columns = len(view.relation.columns)
    commit = BaseCommit(time, uuid.uuid4().hex, columns, hidden=hidden)
    rows = whole.rows(plane, live, partials.widened(view, hidden), time)
    writer = rows.write.format("delta").mode("error")
    writer = writer.option("userMetadata", commit.to_json())
    for name, value in {**_PROPERTIES, **schema.properties(view.relation)}.items():
        writer = writer.option(name, value)
    try:
        writer.save(delta.base_path(plane, view.shard))
    except spark.FAILURES:
        if view_versions.known(plane, view.shard) is None:
            raise
