"""The snapshot's task: runs in Spark's Python workers, COPY binary -> Arrow -> Parquet, per range.

Rows stream through; nothing grows with the table.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from psycopg.conninfo import make_conninfo
from pyarrow import fs

from ingest.feeds.postgres.connect import tls_files
from ingest.feeds.postgres.convert import arrow_type, convert
from ingest.feeds.postgres.quarantine import QUARANTINED, rejected

_BATCH_BYTES = 8 << 20
_ROW_GROUP = 1 << 20
_NICENESS = 10
DONE = pa.schema([("rows", pa.int64()), ("bad", pa.int64()), ("error", pa.string())])
DONE_DDL = "`rows` bigint, `bad` bigint, `error` string"


@dataclass(frozen=True)
class Field:
    """One column of the result: its name in the files, what it becomes, where upstream it is."""

    physical: str
    name: str
    spark: str
    position: int
    sql_type: str


@dataclass(frozen=True, repr=False)
class Job:
    """A table's copy: how to connect, under which snapshot, what to read, where to write to."""

    connection: dict[str, str]
    tls: dict[str, str]
    snapshot: str
    queries: tuple[str, ...]
    fields: tuple[Field, ...]
    folder: str

    def file(self, number: int) -> str:
        """Name of the data file of a range, inside the folder."""
        return f"part-{number:05d}.parquet"


def copier(job: Job) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow` over range numbers: copies the ranges, answers their rows and rejected
    rows, or the error that ended it: a sentence, where Spark would have a trace.

    The work is done in a thread of low priority, so that the feed's own commits come first.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        with ThreadPoolExecutor(1, initializer=_step_back) as pool:
            yield pool.submit(_told, job, numbers).result()

    return run


def _told(job: Job, numbers: list[int]) -> pa.RecordBatch:
    done, error = [], None
    try:
        done = _copy(job, numbers)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    sums = [sum(rows for rows, _ in done), sum(bad for _, bad in done)]
    return pa.RecordBatch.from_pylist(
        [{"rows": sums[0], "bad": sums[1], "error": error}], schema=DONE
    )


def _step_back() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _copy(job: Job, numbers: list[int]) -> list[tuple[int, int]]:
    with tls_files(job.tls) as files:
        uri = make_conninfo("", **job.connection, **files)
        with adbc.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
            _join(cursor, job.snapshot)
            return [_range(cursor, job, number) for number in numbers]


def _join(cursor: adbc.Cursor, snapshot: str) -> None:
    cursor.execute("begin isolation level repeatable read read only")
    cursor.execute(" ".join(("set transaction snapshot", _literal(snapshot))))
    cursor.adbc_statement.set_options(
        **{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH_BYTES)}
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _range(cursor: adbc.Cursor, job: Job, number: int) -> tuple[int, int]:
    schema = pa.schema([(field.physical, arrow_type(field.spark)) for field in job.fields])
    system, folder = fs.FileSystem.from_uri(_uri(job.folder))
    name = f"{folder}/{job.file(number)}"
    rows = 0
    bad: list[pa.Table] = []
    cursor.execute(job.queries[number])
    with pq.ParquetWriter(name, schema, filesystem=system, compression="snappy") as writer:
        for batch in cursor.fetch_record_batch():
            kept, left = _converted(batch, job.fields, schema)
            writer.write_batch(kept, row_group_size=_ROW_GROUP)
            rows += kept.num_rows
            bad += [left] if left is not None else []
    rejects = pa.concat_tables(bad) if bad else QUARANTINED.empty_table()
    if bad:
        pq.write_table(rejects, f"{folder}/_bad-{number:05d}.parquet", filesystem=system)
    with system.open_output_stream(f"{folder}/_done-{number:05d}") as marker:
        marker.write(f"{rows} {rejects.num_rows}".encode())
    return rows, rejects.num_rows


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


def _uri(path: str) -> str:
    return path if "://" in path else f"file://{path}"
