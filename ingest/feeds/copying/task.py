"""The snapshot's task: COPY binary -> Arrow -> Parquet, piece by piece.

Rows stream through; nothing grows with the table.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import adbc_driver_manager as adbc
import adbc_driver_postgresql
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from ingest.commits import located
from ingest.feeds.copying.convert import arrow_type, convert
from ingest.feeds.copying.quarantine import QUARANTINED, rejected
from ingest.feeds.copying.tls import tls_files

_BATCH_BYTES = 4 << 20
_ROW_GROUP = 1 << 18
_SAMPLE = 4096
_NICENESS = 10
DONE = pa.schema(
    [("piece", pa.int64()), ("rows", pa.int64()), ("bad", pa.int64()), ("error", pa.string())]
)
DONE_DDL = "`piece` bigint, `rows` bigint, `bad` bigint, `error` string"


@dataclass(frozen=True)
class Field:
    """One column of the result: its name in the files, what it becomes, where upstream it is."""

    physical: str
    name: str
    spark: str
    position: int
    sql_type: str


@dataclass(frozen=True)
class Query:
    """One range of a table. `quick` has its numerics as scaled integers, which are cheaper by far
    but have no NaN; upstream raises an error at one, and then `faithful` is asked."""

    faithful: str
    quick: str


@dataclass(frozen=True)
class Copy:
    """A table's copy: what to read, range by range, and where to write to."""

    queries: tuple[Query, ...]
    fields: tuple[Field, ...]
    folder: str

    def file(self, number: int) -> str:
        """Name of the data file of a range, inside the folder."""
        return f"part-{number:05d}.parquet"


@dataclass(frozen=True, repr=False)
class Job:
    """Copies under one snapshot; their pieces, in order, are numbered from 0."""

    connection: str
    tls: dict[str, str]
    snapshot: str
    copies: tuple[Copy, ...]

    def pieces(self) -> list[tuple[int, int]]:
        """For each piece: which copy, and which range of it."""
        return [
            (index, number)
            for index, copy in enumerate(self.copies)
            for number in range(len(copy.queries))
        ]


def copier(job: Job) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow` over piece numbers: copies the pieces, answers for each its rows and
    rejected rows, or the error that ended it: a sentence, where Spark would have a trace.

    The work is done in a thread of low priority, so that the feed's own commits come first.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        with ThreadPoolExecutor(1, initializer=_step_back) as pool:
            yield pool.submit(_copied, job, numbers).result()

    return run


def _step_back() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _copied(job: Job, numbers: list[int]) -> pa.RecordBatch:
    pieces = job.pieces()
    done: list[dict[str, object]] = []
    with tls_files(job.tls) as files, closing(_Reader(job, files)) as reader:
        for number in numbers:
            copy, range_ = pieces[number]
            done.append({"piece": number, **_told(reader, job.copies[copy], range_)})
    return pa.RecordBatch.from_pylist(done, schema=DONE)


def _told(reader: _Reader, copy: Copy, number: int) -> dict[str, object]:
    try:
        rows, bad = _range(reader, copy, number)
    except Exception as raised:
        reader.close()
        return {"rows": 0, "bad": 0, "error": f"{type(raised).__name__}: {raised}"}
    return {"rows": rows, "bad": bad, "error": None}


class _Reader:
    """A connection that has joined the snapshot; opened when needed."""

    def __init__(self, job: Job, files: dict[str, str]) -> None:
        own = " ".join(f"{name}={_quoted(path)}" for name, path in files.items())
        self._uri = " ".join((job.connection, own))
        self._snapshot = job.snapshot
        self._opened: list[adbc.AdbcDatabase | adbc.AdbcConnection] = []

    def read(self, query: str) -> tuple[adbc.AdbcStatement, pa.RecordBatchReader]:
        """Run a query; the caller closes the statement."""
        if not self._opened:
            self._open()
        statement = adbc.AdbcStatement(self._opened[-1])
        try:
            statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)})
            statement.set_sql_query(query)
            stream, _ = statement.execute_query()
            return statement, pa.RecordBatchReader._import_from_c(stream.address)  # noqa: SLF001
        except BaseException:
            statement.close()
            raise

    def close(self) -> None:
        """End the connection; the next query opens another."""
        while self._opened:
            self._opened.pop().close()

    def _open(self) -> None:
        database = adbc_driver_postgresql.connect(self._uri)
        self._opened.append(database)
        self._opened.append(adbc.AdbcConnection(database))
        for text in (
            "begin isolation level repeatable read read only",
            " ".join(("set transaction snapshot", _quoted(self._snapshot))),
        ):
            with closing(adbc.AdbcStatement(self._opened[-1])) as statement:
                statement.set_sql_query(text)
                statement.execute_update()


def _range(reader: _Reader, copy: Copy, number: int) -> tuple[int, int]:
    query = copy.queries[number]
    if query.quick != query.faithful:
        try:
            return _written(reader, copy, number, query.quick)
        except (adbc.Error, pa.ArrowException, OSError):
            reader.close()
    return _written(reader, copy, number, query.faithful)


def _written(reader: _Reader, copy: Copy, number: int, query: str) -> tuple[int, int]:
    system, folder = located(copy.folder)
    statement, batches = reader.read(query)
    with closing(statement), batches:
        rows, bad = _write(batches, copy, system, f"{folder}/{copy.file(number)}")
    rejects = pa.concat_tables(bad) if bad else QUARANTINED.empty_table()
    if bad:
        pq.write_table(rejects, f"{folder}/_bad-{number:05d}.parquet", filesystem=system)
    with system.open_output_stream(f"{folder}/_done-{number:05d}") as marker:
        marker.write(f"{rows} {rejects.num_rows}".encode())
    return rows, int(rejects.num_rows)


def _write(
    batches: pa.RecordBatchReader, copy: Copy, system: fs.FileSystem, name: str
) -> tuple[int, list[pa.Table]]:
    schema = pa.schema([(field.physical, arrow_type(field.spark)) for field in copy.fields])
    rows, bad = 0, []
    first = next(iter(batches), None)
    converted = None if first is None else _converted(first, copy.fields, schema)
    with pq.ParquetWriter(
        name,
        schema,
        filesystem=system,
        compression="snappy",
        use_dictionary=_repeating(converted[0]) if converted else False,
        store_decimal_as_integer=True,
    ) as writer:
        while converted is not None:
            kept, left = converted
            writer.write_batch(kept, row_group_size=_ROW_GROUP)
            rows += kept.num_rows
            bad += [left] if left is not None else []
            batch = next(iter(batches), None)
            converted = None if batch is None else _converted(batch, copy.fields, schema)
    return rows, bad


def _repeating(batch: pa.RecordBatch) -> list[str]:
    """The columns that a dictionary makes smaller; for others it only takes time."""
    sample = batch.slice(0, _SAMPLE)
    return [
        name
        for name, column in zip(batch.schema.names, sample.columns, strict=True)
        if not pa.types.is_nested(column.type)
        and pc.count_distinct(column).as_py() * 4 < sample.num_rows
    ]


def _converted(
    batch: pa.RecordBatch, fields: tuple[Field, ...], schema: pa.Schema
) -> tuple[pa.RecordBatch, pa.Table | None]:
    """The rows that fit, and those that do not, as the quarantine keeps them."""
    found = [
        convert(column, field.spark) for column, field in zip(batch.columns, fields, strict=True)
    ]
    whole = pa.record_batch([one.values for one in found], schema=schema)
    flags = [one.bad for one in found if one.bad is not None]
    if not flags:
        return whole, None
    out = flags[0]
    for flag in flags[1:]:
        out = pc.or_(out, flag)
    return whole.filter(pc.invert(out)), rejected(batch, fields, [one.bad for one in found], out)


def _quoted(text: str) -> str:
    """As a SQL literal or as libpq's; the texts here have no backslashes."""
    return "'" + text.replace("'", "''") + "'"
