"""Rows of this process for Spark, by file where they are not few.

Rows that are sent in a plan are turned into rows of Spark's on its driver, several times until a
task has them; a file is read by the task, column by column.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from ingest import commits, spark
from ingest.contract.relation import Relation
from ingest.tables import view_tail

Send = Callable[[pa.Table, Relation], DataFrame]
"""Makes a frame as `view_tail.local` does."""
FEW = 1_000
FEW_AFAR = 50_000
"""So many rows are sent in the plan, where files are on this machine, and where they are not."""
_AGE = 3_600
_READ_ALIKE = (
    pa.types.is_boolean,
    pa.types.is_signed_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_binary,
    pa.types.is_decimal128,
    pa.types.is_date32,
)


@dataclass(frozen=True)
class Hand:
    """Hands rows over by files in the folder at `path`, or in the plan. It is a `Send`."""

    live: SparkSession
    path: str
    made: list[str] = field(default_factory=list)

    def __call__(self, rows: pa.Table, held: Relation) -> DataFrame:
        """Stored changes in memory as Spark's; see `view_tail.local`."""
        kept = view_tail.picked(rows, held)
        found = self._by_file(kept)
        if found is None:
            return view_tail.local(self.live, rows, held)
        return view_tail.named(found, kept.column_names, held)

    def plain(self, rows: pa.Table) -> DataFrame:
        """Rows, at least one, by their own names and of the types that Spark has for Arrow's."""
        found = self._by_file(rows)
        return spark.local(self.live, rows) if found is None else found

    def _by_file(self, rows: pa.Table) -> DataFrame | None:
        """None where they are few, or would not be read as they are."""
        system, root = commits.located(self.path)
        near = isinstance(system, fs.LocalFileSystem)
        if rows.num_rows <= (FEW if near else FEW_AFAR) or not _read_alike(rows.schema):
            return None
        self.made.append(name := f"{uuid.uuid4().hex}.parquet")
        system.create_dir(root)
        pq.write_table(
            rows, f"{root}/{name}", filesystem=system, use_dictionary=False, write_statistics=False
        )
        kinds = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
        return self.live.read.schema(kinds).parquet(f"{self.path}/{name}")


@contextmanager
def files(live: SparkSession, path: str) -> Iterator[Hand]:
    """Hands rows over by files in the folder at `path`, which are there until the block ends.

    Those that a process left there as it died are deleted after an hour.
    """
    hand = Hand(live, path)
    _sweep(path)
    try:
        yield hand
    finally:
        system, root = commits.located(path)
        for name in hand.made:
            with suppress(OSError):
                system.delete_file(f"{root}/{name}")


def _read_alike(kinds: pa.Schema) -> bool:
    """Whether Spark reads from Parquet what Arrow writes."""
    return all(_is_read_alike(kind) for kind in kinds.types)


def _is_read_alike(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _is_read_alike(kind.value_type)
    if pa.types.is_timestamp(kind):
        return str(kind.unit) == "us"
    return any(test(kind) for test in _READ_ALIKE)


@lru_cache(maxsize=10_000)
def _sweep(path: str) -> None:
    """Delete what has been there for long; each process looks once."""
    system, root = commits.located(path)
    for info in system.get_file_info(fs.FileSelector(root, allow_not_found=True)):
        if info.mtime is not None and time.time() - info.mtime.timestamp() > _AGE:
            with suppress(OSError):
                system.delete_file(info.path)
