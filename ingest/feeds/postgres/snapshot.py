"""The first fill of a group of tables: one upstream snapshot, a Spark job a table.

Runs in threads of its own, so that the feed's stream never waits for it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.commands import Export, Feed
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget, Reference
from ingest.errors import HeadraceError, Terminal, Transient
from ingest.feeds import failpoint
from ingest.feeds.exports import Exports
from ingest.feeds.postgres import base, faults
from ingest.feeds.postgres.connect import connect, parameters, reach, tls_texts
from ingest.feeds.postgres.copy import DONE_DDL, Field, Job, copier
from ingest.feeds.postgres.describe import references
from ingest.feeds.postgres.holder import Holder
from ingest.feeds.postgres.selection import selection
from ingest.feeds.postgres.watch import incompatible_change

_TASKS = 2
_POLL_SECONDS = 0.3
_LONGEST_WAIT = 30.0
_DISK_FULL = "53100"


class Snapshot(threading.Thread):
    """Fills `group`, tries again while it may help, and tells `exports` how far it is."""

    def __init__(
        self,
        plane: Plane,
        feed: Feed,
        target: PostgresTarget,
        group: Sequence[Export],
        exports: Exports,
    ) -> None:
        super().__init__(daemon=True, name=f"snapshot {group[0].snapshot_group}")
        self._plane = plane
        self._feed = feed
        self._target = target
        self._left = {export.table: export for export in group}
        self._exports = exports
        self.stopping = threading.Event()

    def run(self) -> None:
        """Try until every table of the group is filled, has failed or is gone."""
        wait = 1.0
        while self._wanted() and not self.stopping.is_set():
            try:
                self._attempt()
            except Exception as error:
                self._stall(error)
                self.stopping.wait(wait)
                wait = min(_LONGEST_WAIT, wait * 2)

    def _wanted(self) -> list[Export]:
        self._left = {t: e for t, e in self._left.items() if self._exports.has(t)}
        return list(self._left.values())

    def _stall(self, error: Exception) -> None:
        told = (
            error
            if isinstance(error, HeadraceError)
            else Transient(
                "the snapshot broke off", detail=f"{type(error).__name__}: {error}"[:300]
            )
        )
        for export in self._wanted():
            self._exports.stalled(export.table, told)

    def _attempt(self) -> None:
        self._phase("validate")
        reach(self._target)
        self._validate()
        self._phase("slot")
        if not self._wanted():
            return
        with Holder(self._target) as holder:
            broken = [error for e in self._wanted() if (error := self._fill(holder, e))]
        if broken:
            raise broken[0]

    def _phase(self, phase: str) -> None:
        for export in self._wanted():
            self._exports.progress(export.table, phase)  # type: ignore[arg-type]

    def _validate(self) -> None:
        session = connect(self._target)
        try:
            wanted = [(export.namespace, export.name) for export in self._wanted()]
            found = references(session, self._feed.publication, wanted)
        except psycopg.Error as error:
            raise faults.running(error) from None
        finally:
            session.close()
        by_identity = {reference.identity: reference for reference in found}
        for export in self._wanted():
            unfit = _unfit(export, by_identity.get(export.reference))
            if unfit is not None:
                self._exports.fail(export.table, unfit)
            else:
                rows = by_identity[export.reference].rows
                self._exports.progress(export.table, "validate", rows_known=rows)

    def _fill(self, holder: Holder, export: Export) -> HeadraceError | None:
        """Fill one table; a failure that may pass is the answer, and leaves the others alone."""
        if not self._exports.has(export.table) or self.stopping.is_set():
            return None
        self._exports.progress(export.table, "snapshot")
        try:
            self._copy(holder, export)
        except HeadraceError as error:
            if not isinstance(error, Terminal) or error.sqlstate == _DISK_FULL:
                self._exports.stalled(export.table, error)
                return error
            self._exports.fail(export.table, error)
        self._left.pop(export.table, None)
        return None

    def _copy(self, holder: Holder, export: Export) -> None:
        root = delta.base_path(self._plane, export.shard)
        made = self._exports.base_position(export)
        if made is not None:
            self._exports.hydrated(export.table, made)
            return
        delta.remove(root)
        attempt = f"snapshot-{secrets.token_hex(4)}"
        system, folder = fs.FileSystem.from_uri(root if "://" in root else f"file://{root}")
        system.create_dir(f"{folder}/{attempt}")
        job = self._job(holder, export, f"{root}/{attempt}")
        with ThreadPoolExecutor(1) as pool:
            copying = pool.submit(self._run, job)
            bad = self._follow(holder, export, copying, (system, f"{folder}/{attempt}"))
        failpoint.hit("last chunk")
        if bad:
            self._set_aside(export, (system, f"{folder}/{attempt}"), holder.position)
        metadata = delta.base_metadata(export.table, 0, holder.position)
        rows = base.write(root, attempt, job, metadata)
        self._exports.progress(
            export.table, "snapshot", rows_known=rows + bad, rows_staged=rows, quarantined=bad
        )
        self._exports.hydrated(export.table, holder.position)

    def _job(self, holder: Holder, export: Export, folder: str) -> Job:
        session = connect(self._target)
        try:
            chosen = selection(session, export, self._feed.publication)
        except psycopg.Error as error:
            raise faults.running(error) from None
        finally:
            session.close()
        connection = parameters(self._target, statement_seconds=0)
        return Job(
            connection,
            tls_texts(self._target),
            holder.snapshot,
            chosen.queries,
            fields(export),
            folder,
        )

    def _run(self, job: Job) -> int:
        count = len(job.queries)

        def work(live: SparkSession) -> int:
            numbers = live.range(0, count, 1, min(_TASKS, count))
            done = numbers.mapInArrow(copier(job), DONE_DDL).collect()
            errors = [str(row["error"]) for row in done if row["error"]]
            if errors:
                raise Transient("the snapshot broke off", detail=errors[0][:500])
            return sum(int(row["bad"]) for row in done)

        return spark.run(self._plane, work, "snapshot", repeat=False)

    def _follow(
        self,
        holder: Holder,
        export: Export,
        copying: Future[int],
        place: tuple[fs.FileSystem, str],
    ) -> int:
        """Report progress until the job is done; how many rows it set aside."""
        seen = 0
        while not copying.done():
            time.sleep(_POLL_SECONDS)
            holder.beat()
            rows, size, chunks = staged(*place)
            for _ in range(chunks - seen):
                failpoint.hit("snapshot chunk")
            seen = chunks
            self._exports.progress(export.table, "snapshot", rows_staged=rows, bytes_staged=size)
        bad = copying.result()
        rows, size, chunks = staged(*place)
        if chunks > seen:
            failpoint.hit("snapshot chunk")
        self._exports.progress(export.table, "snapshot", rows_staged=rows, bytes_staged=size)
        return bad

    def _set_aside(self, export: Export, place: tuple[fs.FileSystem, str], position: int) -> None:
        """Put the rejected rows into the table's quarantine; before the base, so none is lost."""
        path = delta.quarantine_path(self._plane, export.shard)
        delta.remove(path)
        rows = _rejects(*place)
        metadata = delta.base_metadata(export.table, 0, position)

        def work(live: SparkSession) -> None:
            delta.append(_placed(live.createDataFrame(rows), position), path, metadata)

        spark.run(self._plane, work, "snapshot", repeat=False)


def fields(export: Export) -> tuple[Field, ...]:
    """The table's columns as the files have them; awkward names get plain ones in the files."""
    mapped = base.odd_names([column.name for column in export.columns])
    return tuple(
        Field(
            f"c{column.upstream_position}" if mapped else column.name,
            column.name,
            column.type.spark,
            column.upstream_position,
            column.type.sql,
        )
        for column in export.columns
    )


def staged(system: fs.FileSystem, folder: str) -> tuple[int, int, int]:
    """What an attempt has written: rows of finished ranges, bytes, finished ranges."""
    infos = system.get_file_info(fs.FileSelector(folder))
    marks = [info.path for info in infos if info.base_name.startswith("_done-")]
    size = sum(info.size for info in infos if info.base_name.endswith(".parquet"))
    rows = 0
    for path in marks:
        with system.open_input_stream(path) as mark:
            rows += int((mark.read() or b"0").split()[0])
    return rows, size, len(marks)


def _unfit(export: Export, found: Reference | None) -> Terminal | None:
    name = f"{export.namespace}.{export.name}"
    if found is None:
        return Terminal(
            f"table {name} is not in the publication, or is another table now",
            hint="Refresh the source's references, then create the table again.",
        )
    errors = [problem for problem in found.problems if problem.level == "error"]
    if errors:
        return Terminal(errors[0].summary, detail=errors[0].cause, hint=errors[0].upstream_sql)
    columns = {column.position: column for column in found.columns}
    for wanted in export.columns:
        column = columns.get(wanted.upstream_position)
        if column is None or column.name != wanted.upstream_name:
            return incompatible_change(f'column "{wanted.upstream_name}" was dropped or renamed')
        if column.type_oid != wanted.upstream_oid and not wanted.as_text:
            return incompatible_change(f'the type of column "{wanted.upstream_name}" was changed')
    return None


def _rejects(system: fs.FileSystem, folder: str) -> pa.Table:
    infos = system.get_file_info(fs.FileSelector(folder))
    names = [info.path for info in infos if info.base_name.startswith("_bad-")]
    return pa.concat_tables(pq.read_table(name, filesystem=system) for name in names)


def _placed(rows: DataFrame, position: int) -> DataFrame:
    return rows.select(
        F.lit(0).cast("bigint").alias("time"),
        F.lit(position).cast("bigint").alias("position"),
        "after",
        "reason",
    )
