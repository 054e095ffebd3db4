"""How far a table's base has come; the frontier is in the base's own commits."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ingest import delta
from ingest.commits import Version
from ingest.contract.plane import Plane
from ingest.errors import IngestError


@dataclass(frozen=True)
class Frontier:
    """Version `version` of a base holds everything up to log time `time` (ms) and upstream
    position `position`."""

    version: int
    time: int
    position: int


def of(version: Version) -> Frontier | None:
    """The frontier a commit carries; None for maintenance."""
    try:
        fields = json.loads(version.metadata)
        time, position = int(fields["frontier_time"]), int(fields["frontier_position"])
    except (ValueError, KeyError, TypeError):
        return None
    return Frontier(version.number, time, position)


def at(plane: Plane, shard: str, time: int) -> Frontier:
    """The newest version of a table's base that holds nothing after `time` (ms).

    Raises IngestError when the table has no rows yet or its history does not reach back to then.
    """
    known = delta.versions(delta.base_path(plane, shard))
    if not known:
        raise IngestError(
            "the table is not readable yet: its first snapshot is still running",
            hint="Wait until its status is running.",
            sqlstate="55000",
        )
    found = before(plane, shard, time)
    if found is not None:
        return found
    message = f"timestamp {time} is before the table's history begins"
    raise IngestError(
        message,
        hint="Choose a later AS OF.",
        sqlstate="22023",
    )


def before(plane: Plane, shard: str, time: int) -> Frontier | None:
    """The newest version that holds nothing after `time` (ms); None when there is none."""
    for version in reversed(delta.versions(delta.base_path(plane, shard))):
        found = of(version)
        if found is not None and found.time <= time:
            return found
    return None


def newest(plane: Plane, shard: str) -> Frontier | None:
    """The frontier of the newest version; None before the first snapshot."""
    return newest_of(delta.base_path(plane, shard))


def newest_of(path: str) -> Frontier | None:
    """The frontier of the newest version of the table at `path`; None without one."""
    found = (of(version) for version in reversed(delta.versions(path)))
    return next((frontier for frontier in found if frontier is not None), None)
