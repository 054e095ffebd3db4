"""Keeping logs short: joining small files, trimming what every table has, removing data."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from ingest import commits, delta, spark
from ingest.contract.commands import Export
from ingest.contract.plane import Plane
from ingest.tables import frontier, tail

FILES_BEFORE_COMPACTION = 1000
_UNUSED_HOURS = 2
_CLEAN_EVERY = 3_600_000
_TRIM_STEP = 600_000
_LOG_BY_VERSION = 600_000
_BASE_BY_VERSION = 3 * 3_600_000
"""How long (ms) versions can be read by number. A log is only ever read at its newest."""
writing = threading.Lock()
"""Held by whoever folds, joins, trims or cleans: two at once would hold up what feeds write."""
_MAINTENANCE = {
    "spark.databricks.delta.optimize.minFileSize": str(16 * 2**20),
    "spark.databricks.delta.optimize.maxFileSize": str(64 * 2**20),
    "spark.databricks.delta.optimize.maxThreads": "1",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
}


@dataclass(frozen=True)
class Tail:
    """What a base does not hold yet: log rows of the table and the files with them. `since` is
    the time (ms) of the oldest. `frontier` (ms): the base holds everything up to it. `base`: its
    bytes, 0 when not known. Where the log's commits do not tell any more, it is something as old
    as the base."""

    rows: int
    files: int
    since: int
    frontier: int
    base: int = 0


@dataclass(frozen=True)
class Compacted:
    """How many files were joined into how many."""

    before: int
    after: int


_cleaned: dict[str, int] = {}
"""When (ms) this process last removed a table's unused files, by path."""


def count(plane: Plane, feed: str, reference: int, after: int, upto: int) -> int:
    """Log rows of a reference with `after` < time <= `upto`; -1 when not known any more."""
    batches = tail.log(plane, feed).batches(after, upto)
    if batches is None:
        return -1
    return sum(b.commit.counts.get(str(reference), 0) for b in batches)


def tail_of(plane: Plane, feed: str, export: Export) -> Tail:
    """How much of the log the table's base lacks; reads commit files only."""
    known = frontier.newest(plane, export.shard)
    if known is None:
        return Tail(0, 0, 0, 0)
    batches = tail.log(plane, feed).batches(known.time, 2**63 - 1)
    if batches is None:
        return Tail(1, 1, known.time, known.time)
    with_rows = [b for b in batches if b.commit.counts.get(str(export.reference), 0)]
    if not with_rows:
        return Tail(0, 0, 0, known.time)
    rows = sum(b.commit.counts[str(export.reference)] for b in with_rows)
    files = sum(len(b.files) for b in with_rows)
    base = delta.bytes_at_most(delta.base_path(plane, export.shard)) or 0
    return Tail(rows, files, with_rows[0].commit.time, known.time, base)


def compact(plane: Plane, feed: str, files: int = FILES_BEFORE_COMPACTION) -> Compacted:
    """Join a log's small files when there are `files`; appends go on and never conflict. Its old
    commits are packed."""
    path = delta.log_path(plane, feed)
    commits.of(path).pack(_LOG_BY_VERSION, clock.time_ns() // 1_000_000)
    small = _small_files(path)
    if small < files:
        return Compacted(small, small)

    def work(live: SparkSession) -> Compacted:
        _settle(live)
        return Compacted(*delta.optimize(live, path))

    with writing:
        return spark.run(plane, work, "maintenance", repeat=True)


def trimmable(plane: Plane, feed: str, exports: Sequence[Export], horizon: int) -> int:
    """The time (ms), `horizon` at most, up to which log rows are of no use any more; 0 for none.

    A read at a time after it never needs them: every table's base has a version that is older
    than such a read and holds them, or has no rows there at all.
    """
    log = tail.log(plane, feed)
    found = horizon
    for export in exports:
        known = frontier.before(plane, export.shard, horizon)
        if known is None:
            return 0
        batches = log.batches(known.time, horizon)
        if batches is None or any(_rows_in(b, export) for b in batches):
            found = min(found, known.time)
    begin = max(log.trimmed, _begin(log, found))
    return found if found - begin >= _TRIM_STEP else 0


def trim(plane: Plane, feed: str, keep_after: int) -> int:
    """Delete log rows with a time <= `keep_after` (ms); returns how many.

    Files that no version of the last hours needs go with them.
    """
    path = delta.log_path(plane, feed)
    if delta.latest(path) < 0:
        return 0

    def work(live: SparkSession) -> int:
        _settle(live)
        live.conf.set(delta.METADATA, delta.trimmed_metadata(keep_after))
        try:
            return delta.delete(live, path, "time", "<=", keep_after)
        finally:
            live.conf.unset(delta.METADATA)

    with writing:
        gone = spark.run(plane, work, "maintenance", repeat=True)
    if gone:
        vacuum(plane, path, _UNUSED_HOURS)
    return gone


def clean(plane: Plane, shard: str) -> bool:
    """Remove the files of a table's base that no version of the last hours uses; whether it was
    time to look. They are what folding leaves behind."""
    return clean_path(plane, delta.base_path(plane, shard))


def clean_path(plane: Plane, path: str) -> bool:
    """The same for the table at `path`; its old commits are packed. Nothing is removed while no
    file of it is unused for long enough: a listing of every table each time a process starts
    would hold up what feeds write."""
    unused = _UNUSED_HOURS * 3_600_000
    last, now = _cleaned.get(path, 0), clock.time_ns() // 1_000_000
    commits.of(path).pack(_BASE_BY_VERSION, now)
    if now - last < _CLEAN_EVERY or not any(
        version.removes and last - unused < version.at <= now - unused
        for version in delta.versions(path)
    ):
        return False
    vacuum(plane, path, _UNUSED_HOURS)
    _cleaned[path] = now
    return True


def vacuum(plane: Plane, path: str, hours: int) -> None:
    """Delete files that no version of the last `hours` uses."""

    def work(live: SparkSession) -> None:
        _settle(live)
        delta.vacuum(live, path, hours)

    with writing:
        spark.run(plane, work, "maintenance", repeat=True)


def drop_log(plane: Plane, feed: str) -> None:
    """Remove a feed's log."""
    delta.remove(delta.log_path(plane, feed).removesuffix("/log"))


def drop_shard(plane: Plane, shard: str) -> bool:
    """Remove a table's base and quarantine; whether there was anything."""
    return delta.remove(delta.base_path(plane, shard).removesuffix("/base"))


def _rows_in(batch: tail.Batch, export: Export) -> int:
    return batch.commit.counts.get(str(export.reference), 0)


def _begin(log: tail.Log, upto: int) -> int:
    """The time (ms) of the first rows that the log is known to have, `upto` at most."""
    known = log.batches(-1, upto) or []
    return next((batch.commit.time for batch in known if batch.commit.counts), upto)


def _small_files(path: str) -> int:
    """Files added since the last compaction."""
    files = 0
    for version in reversed(delta.versions(path)):
        if version.operation == "OPTIMIZE":
            break
        files += len(version.added)
    return files


def _settle(live: SparkSession) -> None:
    for name, value in _MAINTENANCE.items():
        live.conf.set(name, value)
