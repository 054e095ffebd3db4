"""Rows that are too many to hold: Parquet files beside the log until Spark has read them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ingest.commits import located
from ingest.contract.plane import Plane


@dataclass(frozen=True)
class Spooled:
    """A finished folder of Parquet files with `rows` rows; `position`, when given, is the upstream
    position of every one of them, not known yet when they were written."""

    path: str
    rows: int
    position: int | None = None


class Folder:
    """One folder being filled."""

    def __init__(self, system: fs.FileSystem, root: str, path: str) -> None:
        self._system = system
        self._root = root
        self._path = path
        self._files = 0
        self.rows = 0

    def write(self, rows: pa.Table) -> None:
        """Add rows as one more file."""
        if self._files == 0:
            self._system.create_dir(self._root)
        name = f"{self._root}/part-{self._files:06d}.parquet"
        pq.write_table(rows, name, filesystem=self._system, compression="zstd")
        self._files += 1
        self.rows += rows.num_rows

    def finished(self, position: int | None = None) -> Spooled:
        """What the folder holds, for the log's writer."""
        return Spooled(self._path, self.rows, position)


class Spool:
    """Where one feed's writer keeps such folders; leftovers of a former one go at the start."""

    def __init__(self, plane: Plane, feed: str) -> None:
        self._path = f"{plane.warehouse}/feeds/{feed}/spool"
        self._system, self._root = located(self._path)
        self._run = uuid.uuid4().hex[:12]
        self._made = 0

    def clear(self) -> None:
        """Remove every folder."""
        if self._system.get_file_info(self._root).type == fs.FileType.Directory:
            self._system.delete_dir(self._root)

    def folder(self) -> Folder:
        """A new, empty folder; no other writer has one of the same name."""
        self._made += 1
        name = f"{self._run}-{self._made}"
        return Folder(self._system, f"{self._root}/{name}", f"{self._path}/{name}")

    def remove(self, spooled: Spooled) -> None:
        """Remove one finished folder."""
        name = spooled.path.rpartition("/")[2]
        self._system.delete_dir(f"{self._root}/{name}")
