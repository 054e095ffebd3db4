"""When collections changed, told from commit files alone."""

from __future__ import annotations

from dataclasses import dataclass

from ingest import delta
from ingest.commits import Version
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import plain_versions, tail, view_changes, view_versions

_MANY = 2**40


@dataclass(frozen=True)
class Activity:
    """The times (ms) at which a collection may have changed in a span, oldest first, and at most
    how many rows of changes there are. `gone`: the history does not reach back to the span's
    beginning, so that there may be more."""

    times: tuple[int, ...]
    rows: int = 0
    gone: bool = False


def between(plane: Plane, source: Input, after: int, upto: int) -> Activity:
    """What happened to `source` with `after` < time <= `upto` (ms)."""
    if upto <= after:
        return Activity(())
    if source.segments:
        return _of_view(plane, source, after, upto)
    return (
        _of_log(plane, source, after, upto)
        if source.feed
        else _of_plain(plane, source, after, upto)
    )


def _of_log(plane: Plane, source: Input, after: int, upto: int) -> Activity:
    log = tail.log(plane, source.feed)
    known = log.batches(after, upto)
    if known is None or log.trimmed > after:
        return Activity((upto,), _MANY, gone=True)
    reference = str(source.reference)
    counts = {batch.commit.time: batch.commit.counts.get(reference, 0) for batch in known}
    times = tuple(sorted(time for time, count in counts.items() if count))
    return Activity(times, sum(counts.values()))


def _of_plain(plane: Plane, source: Input, after: int, upto: int) -> Activity:
    times: list[int] = []
    rows = 0
    for version in delta.versions(delta.base_path(plane, source.shard)):
        time = plain_versions.time_of(version)
        if time is not None and after < time <= upto:
            times.append(time)
            rows += _rows(version)
    return Activity(tuple(sorted(times)), rows)


def _rows(version: Version) -> int:
    """How many changes a commit made: a MERGE also writes rows that it leaves as they are."""
    if "numTargetRowsUpdated" not in version.metrics:
        return int(version.metrics.get("numOutputRows", 0))
    weights = {"Inserted": 1, "Deleted": 1, "Updated": 2}
    return sum(
        weight * int(version.metrics.get(f"numTargetRows{kind}", 0))
        for kind, weight in weights.items()
    )


def _of_view(plane: Plane, source: Input, after: int, upto: int) -> Activity:
    times: list[int] = []
    rows = 0
    for part in view_changes.parts(source, after, upto):
        known = view_versions.require(plane, part.shard)
        if part.begin < max(known.trimmed, known.since):
            return Activity((upto,), _MANY, gone=True)
        if part.switched:
            times.append(part.begin)
            rows += _MANY
        steps = [step for step in known.between(part.begin, part.end) if step.rows]
        times += [step.time for step in steps]
        rows += sum(step.rows for step in steps)
    return Activity(tuple(sorted(times)), rows)
