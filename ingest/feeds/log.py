"""The one writer of a feed's log: whole batches, one Delta commit each, fenced by epoch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.connect import functions as F
from pyspark.sql.connect.session import SparkSession

from ingest import delta, spark
from ingest.contract.log import LOG_COLUMNS, Commit
from ingest.contract.plane import Plane
from ingest.errors import Terminal, Transient
from ingest.feeds import failpoint

LOG_ROWS = pa.schema(
    [
        ("seq", pa.int64()),
        ("reference", pa.int64()),
        ("op", pa.string()),
        ("key", pa.list_(pa.string())),
        ("before", pa.list_(pa.string())),
        ("after", pa.list_(pa.string())),
        ("unchanged", pa.list_(pa.int32())),
        ("position", pa.int64()),
    ]
)
"""Rows as `LogWriter.append` takes them: `LOG_COLUMNS` without `time`, which the commit gives."""

_PROPERTIES = {
    "delta.checkpointInterval": "100",
    "delta.dataSkippingStatsColumns": "time,position",
}
_ATTEMPTS = 4


class Fenced(Terminal):
    """Another writer with a newer epoch has the feed now: stop without a word upstream."""


class LogWriter:
    """Appends batches to the log of feed `feed_id`; one writer at a time, from one thread.

    A writer claims the log when it opens it. It refuses to go on once a newer epoch has, and it
    takes back what an older one wrote after the claim.
    """

    def __init__(self, plane: Plane, feed_id: str, epoch: int) -> None:
        self._plane = plane
        self._feed = feed_id
        self._epoch = epoch
        self._path = delta.log_path(plane, feed_id)
        self._version = -1

    def open(self) -> Commit | None:
        """Claim the log, making it if there is none; returns the last batch, None before the
        first one. Raises Fenced for a newer epoch, Transient when Spark is away."""
        found = delta.last_commit(self._plane, self._feed)
        if found and found[1].epoch > self._epoch:
            raise self._fenced(found[1].epoch)
        last = found[1] if found else Commit(self._feed, 0, 0, 0, {})
        self._version = delta.latest(self._path)
        self._commit(None, replace(last, epoch=self._epoch, counts={}))
        return last if last.time else None

    def append(self, rows: pa.Table, commit: Commit) -> None:
        """Commit one batch: `rows` (schema `LOG_ROWS`) at `commit.time`, with the metadata.

        Small batches only (some 20,000 rows): they travel through the client. Returns when the
        batch is durable. Raises Fenced, Transient when it is not known to be durable.
        """
        self._commit(rows, commit)

    def append_spooled(self, folder: Path, commit: Commit) -> None:
        """`append` for rows that lie in `folder` as Parquet files, which Spark reads itself."""
        self._commit(folder, commit)

    def _commit(self, rows: pa.Table | Path | None, commit: Commit) -> None:
        self._fence()
        for attempt in range(_ATTEMPTS):
            try:
                spark.run(
                    self._plane,
                    lambda live: self._write(live, rows, commit),
                    "log",
                    repeat=False,
                )
                break
            except Transient:
                self._fence(commit)
                if self._holds(commit):
                    break
                if attempt == _ATTEMPTS - 1:
                    raise
        failpoint.hit("log written")
        self._fence(commit)

    def _write(self, live: SparkSession, rows: pa.Table | Path | None, commit: Commit) -> None:
        properties = _PROPERTIES if self._version < 0 else None
        delta.append(_frame(live, rows, commit.time), self._path, commit.to_json(), properties)

    def _holds(self, commit: Commit) -> bool:
        """Whether the log has this very batch; asked when an append's answer was lost."""
        found = delta.last_commit(self._plane, self._feed)
        return found is not None and found[1] == commit

    def _fence(self, own: Commit | None = None) -> None:
        """Look at the commits since the last look; raises Fenced for a newer epoch's."""
        for version in delta.versions(self._path, self._version):
            commit = delta.log_commit(version)
            if commit is not None and commit != own:
                self._judge(commit)
            self._version = version.number

    def _judge(self, foreign: Commit) -> None:
        if foreign.epoch > self._epoch:
            raise self._fenced(foreign.epoch)
        if foreign.epoch < self._epoch and foreign.counts:
            time = foreign.time
            spark.run(self._plane, lambda live: self._take_back(live, time), "log", repeat=True)

    def _take_back(self, live: SparkSession, time: int) -> None:
        """Remove a late batch of an older epoch: this writer's stream has those changes too."""
        quoted = self._path.replace("`", "``")
        nothing = _frame(live, None, time)
        nothing.writeTo(f"delta.`{quoted}`").overwrite(F.col("time") == F.lit(time))

    def _fenced(self, epoch: int) -> Fenced:
        return Fenced(
            f"feed {self._feed} has a newer reader",
            detail=f"This one has epoch {self._epoch}, the newer one {epoch}.",
        )


def _frame(live: SparkSession, rows: pa.Table | Path | None, time: int) -> DataFrame:
    names = [name for name, _ in LOG_COLUMNS]
    if isinstance(rows, Path):
        spooled = live.read.parquet(rows.as_uri())
        return spooled.withColumn("time", F.lit(time).cast("bigint")).select(*names)
    if rows is None:
        return live.createDataFrame([], ", ".join(map(" ".join, LOG_COLUMNS)))
    times = pa.repeat(pa.scalar(time, pa.int64()), rows.num_rows)
    return live.createDataFrame(rows.append_column("time", times).select(names)).coalesce(1)
