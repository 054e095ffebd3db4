"""The first fill of a group of tables: one upstream snapshot, Spark jobs of several tables.

Runs in threads of its own, so that the feed's stream never waits for it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg.conninfo import make_conninfo
from pyarrow import fs
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.commits import located
from ingest.contract.commands import Export, Feed
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget, Reference
from ingest.errors import HeadraceError, Terminal, Transient
from ingest.feeds import failpoint
from ingest.feeds.copying.task import DONE_DDL, Copy, Field, Job, copier
from ingest.feeds.exports import Exports
from ingest.feeds.postgres import base, faults
from ingest.feeds.postgres.connect import connect, parameters, reach, tls_texts
from ingest.feeds.postgres.describe import references
from ingest.feeds.postgres.holder import Holder
from ingest.feeds.postgres.selection import selection
from ingest.feeds.postgres.watch import incompatible_change

_TASKS = 2
_PIECES = 100
_copying = threading.Semaphore(2)
_POLL_SECONDS = 0.3
_LONGEST_WAIT = 30.0
_DISK_FULL = "53100"


@dataclass(frozen=True)
class _Plan:
    """One table's copy: its base goes to `root`, the files to the folder `attempt` in it."""

    export: Export
    root: str
    attempt: str
    copy: Copy
    position: int

    @property
    def place(self) -> tuple[fs.FileSystem, str]:
        """The folder of files."""
        return located(self.copy.folder)


@dataclass
class _Result:
    """What became of a table's pieces."""

    rows: int = 0
    bad: int = 0
    error: str = ""

    def add(self, piece: Row) -> None:
        """Count one more piece in."""
        self.rows += int(piece["rows"])
        self.bad += int(piece["bad"])
        self.error = self.error or str(piece["error"] or "")


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
            broken = self._fill(holder)
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

    def _fill(self, holder: Holder) -> list[HeadraceError]:
        """Fill the tables, several in one job; failures that may pass are the answer."""
        broken: list[HeadraceError] = []
        for bundle in _bundles(self._planned(holder)):
            wanted = [plan for plan in bundle if self._exports.has(plan.export.table)]
            if wanted and not self.stopping.is_set():
                for plan, result in self._copy(holder, wanted):
                    broken += self._settled(plan, lambda p=plan, r=result: self._finish(p, r))  # type: ignore[misc]
        return broken

    def _settled(self, plan: _Plan, work: Callable[[], None]) -> list[HeadraceError]:
        """Do one table's work; a failure of it leaves the others alone."""
        table = plan.export.table
        try:
            work()
        except HeadraceError as error:
            if not isinstance(error, Terminal) or error.sqlstate == _DISK_FULL:
                self._exports.stalled(table, error)
                return [error]
            self._exports.fail(table, error)
        self._left.pop(table, None)
        return []

    def _planned(self, holder: Holder) -> list[_Plan]:
        """What is to be read for each table that has no base yet, small ones first."""
        plans: list[_Plan] = []
        session = connect(self._target)
        try:
            for export in self._wanted():
                made = self._exports.base_position(export)
                if made is not None:
                    self._exports.hydrated(export.table, made)
                    self._left.pop(export.table, None)
                    continue
                queries = selection(session, export, self._feed.publication)
                root = delta.base_path(self._plane, export.shard)
                attempt = f"snapshot-{secrets.token_hex(4)}"
                copy = Copy(queries, fields(export), f"{root}/{attempt}")
                plans.append(_Plan(export, root, attempt, copy, holder.position))
        except psycopg.Error as error:
            raise faults.running(error) from None
        finally:
            session.close()
        return sorted(plans, key=lambda plan: len(plan.copy.queries))

    def _copy(self, holder: Holder, plans: list[_Plan]) -> list[tuple[_Plan, _Result]]:
        """Copy the tables' rows into files."""
        for plan in plans:
            delta.remove(plan.root)
            system, folder = plan.place
            system.create_dir(folder)
            self._exports.progress(plan.export.table, "snapshot")
        connection = make_conninfo("", **parameters(self._target, statement_seconds=0))
        copies = tuple(plan.copy for plan in plans)
        job = Job(connection, tls_texts(self._target), holder.snapshot, copies)
        with ThreadPoolExecutor(1) as pool:
            copying = pool.submit(self._run, job)
            self._follow(holder, plans, copying)
        results = [_Result() for _ in plans]
        for (index, _), piece in zip(job.pieces(), copying.result(), strict=True):
            results[index].add(piece)
        return list(zip(plans, results, strict=True))

    def _finish(self, plan: _Plan, result: _Result) -> None:
        """Make a table of the files."""
        if result.error:
            raise Transient("the snapshot broke off", detail=result.error[:500])
        table = plan.export.table
        self._exports.progress(table, "snapshot", rows_staged=result.rows)
        failpoint.hit("last chunk")
        if result.bad:
            self._set_aside(plan)
        metadata = delta.base_metadata(table, 0, plan.position)
        made = base.write(plan.root, plan.attempt, plan.copy, metadata)
        self._exports.progress(
            table,
            "snapshot",
            rows_known=made.rows + result.bad,
            rows_staged=made.rows,
            bytes_staged=made.bytes,
            quarantined=result.bad,
        )
        self._exports.hydrated(table, plan.position)

    def _run(self, job: Job) -> list[Row]:
        """Each piece's row of `DONE_DDL`, in order."""
        count = len(job.pieces())

        def work(live: SparkSession) -> list[Row]:
            numbers = live.range(0, count, 1, min(_TASKS, count))
            done = numbers.mapInArrow(copier(job), DONE_DDL).collect()
            return sorted(done, key=lambda row: int(row["piece"]))

        with _copying:
            return spark.run(self._plane, work, "snapshot", repeat=False)

    def _follow(self, holder: Holder, plans: list[_Plan], copying: Future[list[Row]]) -> None:
        """Report the large tables' progress until the job is done."""
        seen = 0
        while not wait([copying], _POLL_SECONDS).done:
            holder.beat()
            chunks = sum(self._staged(plan) for plan in plans if len(plan.copy.queries) > 1)
            for _ in range(chunks - seen):
                failpoint.hit("snapshot chunk")
            seen = chunks
        for _ in copying.result()[seen:]:
            failpoint.hit("snapshot chunk")

    def _staged(self, plan: _Plan) -> int:
        rows, size, chunks = staged(*plan.place)
        table = plan.export.table
        self._exports.progress(table, "snapshot", rows_staged=rows, bytes_staged=size)
        return chunks

    def _set_aside(self, plan: _Plan) -> None:
        """Put the rejected rows into the table's quarantine; before the base, so none is lost."""
        path = delta.quarantine_path(self._plane, plan.export.shard)
        delta.remove(path)
        rows = _rejects(*plan.place)
        metadata = delta.base_metadata(plan.export.table, 0, plan.position)

        def work(live: SparkSession) -> None:
            delta.append(_placed(live.createDataFrame(rows), plan.position), path, metadata)

        spark.run(self._plane, work, "snapshot", repeat=False)


def _bundles(plans: Sequence[_Plan]) -> Iterator[list[_Plan]]:
    """Tables to copy in one job: a job costs about as much as a hundred small tables."""
    bundle: list[_Plan] = []
    pieces = 0
    for plan in plans:
        if bundle and pieces + len(plan.copy.queries) > _PIECES:
            yield bundle
            bundle, pieces = [], 0
        bundle.append(plan)
        pieces += len(plan.copy.queries)
    if bundle:
        yield bundle


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
