"""The one writer of a feed's log: whole batches, one Delta commit each, fenced by epoch."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.log import LOG_COLUMNS, Commit
from ingest.contract.plane import Plane
from ingest.delta import Standing
from ingest.errors import Terminal, Transient
from ingest.feeds import failpoint
from ingest.feeds.spool import Spool, Spooled

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
    "delta.checkpointInterval": "1000",
    "delta.logRetentionDuration": "interval 1 day",
    "delta.deletedFileRetentionDuration": "interval 2 hours",
    "delta.dataSkippingStatsColumns": "time,position",
}
"""A checkpoint holds up the append that makes it for a second or two."""
_THROUGH_CLIENT = 20_000


class Fenced(Terminal):
    """Another writer with a newer epoch has the feed now: stop without a word upstream."""


class LogWriter:
    """Appends batches to the log of feed `feed_id`; one writer at a time, from one thread.

    A writer claims the log when it opens it. It refuses to go on once a newer epoch has. While it
    is `unsure`, what the log has is not known: it must be opened again before the next append.
    """

    def __init__(self, plane: Plane, feed_id: str, epoch: int) -> None:
        self._plane = plane
        self._feed = feed_id
        self._epoch = epoch
        self._path = delta.log_path(plane, feed_id)
        self._version = -1
        self._attempt = -1
        self.unsure = True
        self.spool = Spool(plane, feed_id)

    def open(self) -> Commit | None:
        """Claim the log, making it if there is none; returns the last batch, None before the
        first one. Raises Fenced for a newer epoch, Transient when Spark is away.

        A batch that a former writer gets in before the claim counts, and that writer may have
        acknowledged it: so what is last is only known once the claim is there.
        """
        found = delta.standing(self._plane, self._feed)
        if found.succession.epoch > self._epoch:
            raise self._fenced(found.succession.epoch)
        self._version = found.version
        last = found.last or Commit(self._feed, 0, 0, 0, {})
        self._attempt += 1
        claim = replace(last, epoch=self._epoch, attempt=self._attempt, counts={})
        self._land(None, claim)
        last = self._claimed(claim, found)
        self.spool.clear()
        self.unsure = False
        return last if last.time else None

    def append(self, rows: pa.Table | Spooled, commit: Commit) -> None:
        """Commit one batch: `rows` (schema `LOG_ROWS`) at `commit.time`, with the metadata.

        Many rows reach Spark through the spool, few through the client. Returns when the batch
        is durable. Raises Fenced, and Transient when it is not known to be durable; whatever it
        raises, the writer may be `unsure` then.
        """
        if isinstance(rows, pa.Table) and rows.num_rows > _THROUGH_CLIENT:
            folder = self.spool.folder()
            folder.write(rows)
            rows = folder.finished()
        failpoint.hit("log written")
        self._commit(rows, replace(commit, attempt=self._attempt))
        if isinstance(rows, Spooled):
            self.spool.remove(rows)

    def _commit(self, rows: pa.Table | Spooled | None, commit: Commit) -> None:
        self._fence()
        self.unsure = True
        self._land(rows, commit)
        if not self._fence(commit):
            raise Transient("the log did not take a batch", detail=f"time {commit.time}")
        self.unsure = False

    def _land(self, rows: pa.Table | Spooled | None, commit: Commit) -> None:
        try:
            spark.run(
                self._plane, lambda live: self._write(live, rows, commit), "log", repeat=False
            )
        except Transient:
            if not self._holds(commit):
                raise

    def _write(self, live: SparkSession, rows: pa.Table | Spooled | None, commit: Commit) -> None:
        properties = _PROPERTIES if self._version < 0 else None
        delta.append(_frame(live, rows, commit.time), self._path, commit.to_json(), properties)

    def _holds(self, commit: Commit) -> bool:
        """Whether the log has this very batch; asked when an append's answer was lost."""
        return commit in map(delta.log_commit, delta.versions(self._path, self._version))

    def _claimed(self, claim: Commit, before: Standing) -> Commit:
        """What counts last once the claim is there; what an older writer gets in now is void."""
        last = before.last or claim
        for version in delta.versions(self._path, before.version):
            commit = delta.log_commit(version)
            if commit is None:
                continue
            if commit.epoch > self._epoch:
                raise self._fenced(commit.epoch)
            last = commit if before.succession.takes(commit) else last
            if commit == claim:
                self._version = version.number
                return last
        raise Transient("the log did not take a claim", detail=f"epoch {self._epoch}")

    def _fence(self, own: Commit | None = None) -> bool:
        """Look at the commits since the last look; whether `own` is one of them. Raises Fenced
        for a newer epoch's."""
        seen = False
        for version in delta.versions(self._path, self._version):
            commit = delta.log_commit(version)
            if commit is not None and commit == own:
                seen = True
            elif commit is not None:
                self._judge(commit)
            self._version = version.number
        return seen

    def _judge(self, foreign: Commit) -> None:
        if foreign.epoch > self._epoch:
            raise self._fenced(foreign.epoch)
        if foreign.counts:
            time = foreign.time
            spark.run(self._plane, lambda live: self._take_back(live, time), "log", repeat=True)

    def _take_back(self, live: SparkSession, time: int) -> None:
        """Remove a void batch's rows; its writer has written them again, or a newer one has."""
        delta.delete(live, self._path, "time", "=", time)

    def _fenced(self, epoch: int) -> Fenced:
        return Fenced(
            f"feed {self._feed} has a newer reader",
            detail=f"This one has epoch {self._epoch}, the newer one {epoch}.",
        )


def _frame(live: SparkSession, rows: pa.Table | Spooled | None, time: int) -> DataFrame:
    names = [name for name, _ in LOG_COLUMNS]
    if isinstance(rows, Spooled):
        spooled = live.read.parquet(rows.path)
        given = {"time": F.lit(time).cast("bigint")}
        if rows.position is not None:
            given["position"] = F.lit(rows.position).cast("bigint")
        return spooled.withColumns(given).select(*names)
    if rows is None or rows.num_rows == 0:
        return live.createDataFrame([], ", ".join(map(" ".join, LOG_COLUMNS)))
    times = pa.repeat(pa.scalar(time, pa.int64()), rows.num_rows)
    return live.createDataFrame(rows.append_column("time", times).select(names)).coalesce(1)
