"""Keeping logs short: joining small files, trimming what every table has, removing data."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pyspark.sql import SparkSession

from ingest import delta, spark
from ingest.contract.commands import Export
from ingest.contract.plane import Plane
from ingest.tables import frontier, tail

FILES_BEFORE_COMPACTION = 50
_LOG_HOURS = 48
_maintaining = threading.Lock()
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
    the time (ms) of the oldest. `frontier` is how far log trimming may go for this table."""

    rows: int
    files: int
    since: int
    frontier: int


@dataclass(frozen=True)
class Compacted:
    """How many files were joined into how many."""

    before: int
    after: int


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
    batches = tail.log(plane, feed).batches(known.time, 2**63 - 1) or []
    with_rows = [b for b in batches if b.commit.counts.get(str(export.reference), 0)]
    if not with_rows:
        return Tail(0, 0, 0, batches[-1].commit.time if batches else known.time)
    rows = sum(b.commit.counts[str(export.reference)] for b in with_rows)
    files = sum(len(b.files) for b in with_rows)
    return Tail(rows, files, with_rows[0].commit.time, known.time)


def compact(plane: Plane, feed: str) -> Compacted:
    """Join a log's small files when there are enough; appends go on and never conflict."""
    path = delta.log_path(plane, feed)
    small = _small_files(path)
    if small < FILES_BEFORE_COMPACTION:
        return Compacted(small, small)

    def work(live: SparkSession) -> Compacted:
        _settle(live)
        return Compacted(*delta.optimize(live, path))

    with _maintaining:
        return spark.run(plane, work, "maintenance", repeat=True)


def trim(plane: Plane, feed: str, keep_after: int) -> int:
    """Delete log rows with a time <= `keep_after` (ms); returns how many.

    Files that no version of the last two days needs go with them.
    """
    path = delta.log_path(plane, feed)
    if delta.latest(path) < 0:
        return 0

    def work(live: SparkSession) -> int:
        _settle(live)
        live.conf.set(delta.METADATA, tail.trimmed_metadata(keep_after))
        try:
            return delta.delete(live, path, "time", "<=", keep_after)
        finally:
            live.conf.unset(delta.METADATA)

    with _maintaining:
        gone = spark.run(plane, work, "maintenance", repeat=True)
    if gone:
        vacuum(plane, path, _LOG_HOURS)
    return gone


def vacuum(plane: Plane, path: str, hours: int) -> None:
    """Delete files that no version of the last `hours` uses."""

    def work(live: SparkSession) -> None:
        _settle(live)
        delta.vacuum(live, path, hours)

    with _maintaining:
        spark.run(plane, work, "maintenance", repeat=True)


def drop_log(plane: Plane, feed: str) -> None:
    """Remove a feed's log."""
    delta.remove(delta.log_path(plane, feed).removesuffix("/log"))


def drop_shard(plane: Plane, shard: str) -> None:
    """Remove a table's base and quarantine."""
    delta.remove(delta.base_path(plane, shard).removesuffix("/base"))


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
