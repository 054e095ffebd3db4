"""What a view's data says of itself."""

from __future__ import annotations

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.contract.views import ViewState
from ingest.errors import IngestError
from ingest.tables import view_rows, view_tail, view_versions
from ingest.tables.view_versions import Known


def state(plane: Plane, shard: str) -> ViewState | None:
    """See `ingest.engine.view_state`."""
    known = view_versions.known(plane, shard)
    if known is None:
        return None
    base = known.bases[-1]
    size = base.bytes + sum(step.bytes for step in known.steps if step.time > base.time)
    return ViewState(known.since, known.time, rows(plane, known), size)


def rows(plane: Plane, known: Known) -> int:
    """How many rows a shard has after its newest step."""
    base = known.bases[-1]
    steps = [step for step in known.steps if step.time > base.time]
    added, removed = view_tail.counts(plane, known.shard, steps)
    return base.rows + added - removed


def exact(plane: Plane, source: Input, time: int, through: int) -> bool:
    """See `ingest.engine.view_exact`."""
    try:
        segment = view_rows.segment_at(source, time)
        known = view_versions.require(plane, segment.shard)
        known.base(time)
    except IngestError:
        return False
    last = max((step.time for step in known.steps if step.time <= time), default=known.since)
    following = next((step for step in known.steps if step.time > time), None)
    if following is not None:
        return time == last or time <= following.commit.after
    return time == last or time <= through
