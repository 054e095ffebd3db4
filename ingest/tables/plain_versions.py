"""Which version of a plain table belongs to a time; the time is in the version's metadata."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ingest import delta
from ingest.commits import Version
from ingest.contract.plane import Plane
from ingest.errors import IngestError


def metadata(time: int) -> str:
    """The userMetadata of a plain table's commit at `time` (ms)."""
    return json.dumps({"time": time})


def first_metadata(time: int) -> str:
    """The userMetadata of the first commit of a table that records its changes."""
    return json.dumps({"time": time, "recorded": True})


def recorded(versions: Sequence[Version]) -> bool:
    """Whether a table of these versions has recorded its changes from the first of them on."""
    return bool(versions) and '"recorded": true' in versions[0].metadata


def between(versions: Sequence[Version], after: int, upto: int) -> dict[int, int]:
    """The times (ms) with `after` < time <= `upto`, by version."""
    times = {version.number: time_of(version) for version in versions}
    return {n: time for n, time in times.items() if time is not None and after < time <= upto}


def time_of(version: Version) -> int | None:
    """The time a commit was made at; None for maintenance."""
    try:
        return int(json.loads(version.metadata)["time"])
    except (ValueError, KeyError, TypeError):
        return None


def at(plane: Plane, shard: str, time: int) -> int:
    """The version to read at `time`. Raises IngestError before the first."""
    known = delta.versions(delta.base_path(plane, shard))
    for version in reversed(known):
        found = time_of(version)
        if found is not None and found <= time:
            return version.number
    message = f"timestamp {time} is before the table's history begins"
    raise IngestError(
        message,
        hint="Choose a later AS OF.",
        sqlstate="22023",
    )
