"""The part of a feed's log that a table's base does not hold yet; in memory while it is small.

A process reads each new log file once, so that the tail costs a query no Spark job. A tail of more
than `MOST_ROWS` rows stays in Spark.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import commits, delta
from ingest.contract.log import LOG_COLUMNS, Commit, Succession
from ingest.contract.plane import Plane
from ingest.errors import IngestError
from ingest.tables import log_rows
from ingest.tables.frontier import Frontier

MOST_ROWS = 300_000
_MOST_FILES = 200
_MOST_TAILS = 500
_LARGE = 300_000
_KEPT_ROWS = 600_000
_RAW = [name for name, _ in LOG_COLUMNS if name != "reference"]
_ARROW = pa.schema(
    [
        ("time", pa.int64()),
        ("seq", pa.int64()),
        ("op", pa.string()),
        ("key", pa.list_(pa.string())),
        ("before", pa.list_(pa.string())),
        ("after", pa.list_(pa.string())),
        ("unchanged", pa.list_(pa.int32())),
        ("position", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Batch:
    """One commit of a log and the files its rows are in."""

    commit: Commit
    files: tuple[str, ...]


class Log:
    """What this process knows of one feed's log."""

    def __init__(self, plane: Plane, feed: str) -> None:
        self.path = delta.log_path(plane, feed)
        self._times: list[int] = []
        self._batches: list[Batch] = []
        self._version = -1
        self._complete = True
        self._succession = Succession()
        self._trimmed = -1
        self._void: list[int] = []
        self._files: OrderedDict[str, pa.Table] = OrderedDict()
        self._rows: OrderedDict[tuple[int, int], tuple[int, pa.Table]] = OrderedDict()
        self._lock = threading.RLock()

    def refresh(self) -> int:
        """Take in new commits; the log's newest version, -1 when there is no log."""
        with self._lock:
            for version in delta.versions(self.path, self._version):
                if self._version < 0:
                    self._complete = version.number == 0
                self._version = version.number
                commit = delta.log_commit(version)
                self._trimmed = max(self._trimmed, commits.trimmed_to(version))
                if commit is not None:
                    self._take(Batch(commit, version.added))
            if self._times and self._times[0] <= self._trimmed:
                self._complete = True
                self._forget()
            return self._version

    def _forget(self) -> None:
        """Drop the batches whose rows were trimmed, all but the last of them."""
        gone = bisect.bisect_right(self._times, self._trimmed) - 1
        del self._times[:gone]
        del self._batches[:gone]
        self._void = [time for time in self._void if time > self._trimmed]

    def _take(self, batch: Batch) -> None:
        """Take a batch in, unless it is void."""
        if not self._succession.takes(batch.commit):
            if batch.commit.counts:
                self._void.append(batch.commit.time)
        elif batch.commit.counts or not self._times:
            self._times.append(batch.commit.time)
            self._batches.append(batch)

    def batches(self, after: int, upto: int) -> list[Batch] | None:
        """The commits with `after` < time <= `upto`; None when older ones were cleaned away."""
        with self._lock:
            first = bisect.bisect_right(self._times, after)
            if first == 0 and not self._complete:
                return None
            return self._batches[first : bisect.bisect_right(self._times, upto)]

    @property
    def trimmed(self) -> int:
        """The time (ms) up to which the rows are gone; -1 when all are there."""
        return self._trimmed

    def reach(self, after: int) -> None:
        """Raise IngestError when rows with a time > `after` may be gone."""
        if after < self._trimmed:
            message = f"timestamp {after} is before the history that is kept"
            raise IngestError(message, hint="Choose a later AS OF.", sqlstate="22023")

    def rows(
        self,
        reference: int,
        frontier: Frontier,
        upto: int,
        *,
        keep: bool = True,
    ) -> pa.Table | None:
        """The tail in order; None when it is too large for memory or its files are gone. `keep`:
        whether this process will read on from here."""
        wanted = self.batches(frontier.time, upto)
        if wanted is None:
            return None
        wanted = [b for b in wanted if b.commit.counts.get(str(reference), 0)]
        if not wanted:
            return _ARROW.empty_table()
        if sum(b.commit.counts[str(reference)] for b in wanted) > MOST_ROWS:
            return None
        with self._lock:
            try:
                table = self._gather(reference, frontier.time, wanted, keep=keep)
            except FileNotFoundError:
                return None
        return log_rows.where(table, pc.greater(table["position"], frontier.position))

    def ordered(
        self,
        session: SparkSession,
        reference: int,
        frontier: Frontier,
        upto: int,
        *,
        keep: bool = True,
    ) -> pa.Table:
        """The same, read by Spark where that is needed; then too, later reads only add to what
        is kept."""
        table = self.rows(reference, frontier, upto, keep=keep)
        if table is not None:
            return table
        table = self.frame(session, reference, frontier, upto).orderBy("time", "seq").toArrow()
        if keep:
            with self._lock:
                self._keep(reference, frontier.time, upto, table)
        return table

    def frame(
        self, session: SparkSession, reference: int, frontier: Frontier, upto: int
    ) -> DataFrame:
        """The tail as Spark reads it, in no order."""
        time, position = F.col("time"), F.col("position")
        rows = (
            session.read.format("delta")
            .load(self.path)
            .where(
                (F.col("reference") == reference)
                & (time > frontier.time)
                & (time <= upto)
                & (position > frontier.position)
            )
        )
        void = [t for t in self._void if frontier.time < t <= upto]
        return (rows.where(~time.isin(*void)) if void else rows).select(*_RAW)

    def _gather(
        self, reference: int, after: int, wanted: Sequence[Batch], *, keep: bool
    ) -> pa.Table:
        if any(sum(b.commit.counts.values()) > _LARGE for b in wanted):
            raise FileNotFoundError
        last = wanted[-1].commit.time
        have, table = self._rows.get((reference, after), (after, _ARROW.empty_table()))
        if have > last:
            return log_rows.where(table, pc.less_equal(table["time"], last))
        fresh = [b for b in wanted if b.commit.time > have]
        if sum(len(b.files) for b in fresh) > _MOST_FILES:
            raise FileNotFoundError
        parts = [self._file(name, reference) for b in fresh for name in b.files]
        if parts:
            table = pa.concat_tables([table, log_rows.in_order(pa.concat_tables(parts))])
        if keep:
            self._keep(reference, after, last, table)
        return table

    def _keep(self, reference: int, after: int, upto: int, rows: pa.Table) -> None:
        self._rows[reference, after] = (upto, rows)
        self._rows.move_to_end((reference, after))
        while len(self._rows) > 1 and self._is_full():
            self._rows.popitem(last=False)

    def _is_full(self) -> bool:
        rows = sum(table.num_rows for _, table in self._rows.values())
        return rows > _KEPT_ROWS or len(self._rows) > _MOST_TAILS

    def _file(self, name: str, reference: int) -> pa.Table:
        if name not in self._files:
            self._files[name] = pq.read_table(delta.read_file(self.path, name))
            while len(self._files) > 16:
                self._files.popitem(last=False)
        table = self._files[name]
        own = log_rows.where(table, pc.equal(table["reference"], reference))
        return own.select(_RAW).cast(_ARROW)


_logs: dict[tuple[Plane, str], Log] = {}
_logs_lock = threading.Lock()


def log(plane: Plane, feed: str) -> Log:
    """This process's view of a feed's log, up to date."""
    with _logs_lock:
        found = _logs.setdefault((plane, feed), Log(plane, feed))
    found.refresh()
    return found
