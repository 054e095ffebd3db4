"""Delta tables by path: where they are, what their commits say, appends that carry metadata.

Data files and commits are read without Spark, which costs a fraction of a Spark job, so the
warehouse must be reachable from every process of the product, not only from Spark.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession

from ingest import commits
from ingest.commits import Version
from ingest.contract.log import Commit, Succession
from ingest.contract.plane import Plane
from ingest.errors import Transient


@dataclass(frozen=True)
class Standing:
    """A feed's log as of version `version` (-1: there is none): the `succession` up to it, and the
    `last` batch or claim that counts."""

    version: int
    succession: Succession
    last: Commit | None


def log_path(plane: Plane, feed: str) -> str:
    """Where a feed's log is."""
    return f"{plane.warehouse}/feeds/{feed}/log"


def base_path(plane: Plane, shard: str) -> str:
    """Where a table's rows are."""
    return f"{plane.warehouse}/tables/{shard}/base"


def changes_path(plane: Plane, shard: str) -> str:
    """Where a maintained view's changes are."""
    return f"{plane.warehouse}/tables/{shard}/changes"


def quarantine_path(plane: Plane, shard: str) -> str:
    """Where the rows are that did not fit a table's types."""
    return f"{plane.warehouse}/tables/{shard}/quarantine"


def handed_path(plane: Plane, shard: str) -> str:
    """Where rows are for as long as a step of a maintained view takes."""
    return f"{plane.warehouse}/tables/{shard}/handed"


def base_metadata(table: str, time: int, position: int) -> str:
    """The userMetadata of a base's commit: it holds everything up to log time `time` (ms) and
    upstream position `position`."""
    fields = {"table": table, "frontier_time": time, "frontier_position": position}
    return json.dumps(fields, separators=(",", ":"))


def append(
    frame: DataFrame, path: str, metadata: str, options: Mapping[str, str] | None = None
) -> None:
    """Append `frame` to the table at `path` in one commit carrying `metadata`; makes the table.

    `options` go to the writer, such as `delta.*` properties of a table made by this append.
    """
    writer = frame.write.format("delta").mode("append").option("userMetadata", metadata)
    for name, value in (options or {}).items():
        writer = writer.option(name, value)
    writer.save(path)


def rows_at(session: SparkSession, path: str, version: int, columns: Collection[str]) -> DataFrame:
    """Some columns (quoted) of the rows that a version of the table at `path` holds."""
    rows = session.read.format("delta").option("versionAsOf", version).load(path)
    return rows.select(*columns)


METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The session setting that gives statements' commits their userMetadata."""


def delete(live: SparkSession, path: str, column: str, comparison: str, value: int) -> int:
    """Delete the rows whose `column` compares so with `value`; returns how many.

    Delta's statements take no parameters; the value is a number, so it can stand in the text.
    """
    words = ("DELETE FROM", name(path), "WHERE", column, comparison, str(int(value)))
    done = live.sql(" ".join(words)).collect()
    return int(done[0][0]) if done else 0


def optimize(live: SparkSession, path: str) -> tuple[int, int]:
    """Join small files; how many into how many. Never conflicts with appends."""
    found = live.sql(" ".join(("OPTIMIZE", name(path)))).collect()
    metrics = found[0]["metrics"]
    return int(metrics["numFilesRemoved"]), int(metrics["numFilesAdded"])


def vacuum(live: SparkSession, path: str, hours: int) -> None:
    """Delete the files that no version of the last `hours` uses."""
    live.sql(" ".join(("VACUUM", name(path), "RETAIN", str(int(hours)), "HOURS"))).collect()


def name(path: str) -> str:
    """The table at a path as Spark SQL names it."""
    return "delta.`" + path.replace("`", "``") + "`"


def versions(path: str, after: int = -1) -> list[Version]:
    """Commits newer than version `after`, oldest first; empty when there is no table.

    Commits that Delta has already cleaned away are not listed.
    """
    return [version for version in commits.of(path).refresh() if version.number > after]


def latest(path: str) -> int:
    """Number of the newest version; -1 when there is no table."""
    found = commits.of(path).refresh()
    return found[-1].number if found else -1


def find(path: str, wanted: Callable[[Version], bool]) -> Version | None:
    """The newest commit that is `wanted`, or None."""
    return next(filter(wanted, reversed(commits.of(path).refresh())), None)


def standing(plane: Plane, feed: str) -> Standing:
    """Where a feed's log stands now."""
    number, last, succession = -1, None, Succession()
    for version in commits.of(log_path(plane, feed)).refresh():
        number = version.number
        commit = log_commit(version)
        if commit is not None and succession.takes(commit):
            last = commit
    return Standing(number, succession, last)


def log_commit(version: Version) -> Commit | None:
    """The batch that a version of a log carries; None for maintenance."""
    if not version.metadata.startswith("{"):
        return None
    try:
        return Commit.from_json(version.metadata)
    except (ValueError, TypeError):
        return None


def trimmed_metadata(time: int) -> str:
    """The userMetadata of the commit that removes a log's rows with a time <= `time` (ms)."""
    return json.dumps({"trimmed": time})


def remove(path: str) -> bool:
    """Delete a table's files; whether there were any.

    Raises Transient while somebody else deletes them too, or still writes there.
    """
    system, root = commits.located(path)
    found = bool(system.get_file_info(root).type == fs.FileType.Directory)
    if found:
        try:
            system.delete_dir(root)
        except OSError as error:
            raise Transient("the table's files are changing", detail=str(error)) from error
    commits.forget(path)
    return found


def bytes_at_most(path: str) -> int | None:
    """Bytes of a table's live data files, or more: what its commits wrote since it was last
    written anew. None when its commits do not tell."""
    found = 0
    for version in reversed(versions(path)):
        metrics = version.metrics
        written = metrics.get("numOutputBytes") or metrics.get("numTargetBytesAdded")
        if version.added and written is None:
            return None
        found += int(written or 0) - int(metrics.get("numTargetBytesRemoved") or 0)
        if version.number == 0 or (version.operation == "WRITE" and version.removes):
            return found
    return None


def live_files(path: str, version: int) -> list[str] | None:
    """The data files of a version of the table at `path`, all of whose rows are its rows; None
    where the commits that are known do not tell."""
    known = [each for each in versions(path) if each.number <= version]
    if not known or known[0].number != 0 or known[-1].number != version:
        return None
    live: dict[str, None] = {}
    for each in known:
        if each.marks or (each.removes and not each.removed):
            return None
        for gone in each.removed:
            live.pop(gone, None)
        live.update(dict.fromkeys(each.added))
    return list(live)


def rows_written(path: str, besides: Collection[str] = ()) -> tuple[int, set[str]]:
    """Rows in the finished data files of a folder, whether committed or not, and the files'
    names; those of `besides` are left out."""
    system, root = commits.located(path)
    selector = fs.FileSelector(root, allow_not_found=True)
    names = {info.base_name for info in system.get_file_info(selector)}
    names = {name for name in names if name.endswith(".parquet")} - set(besides)
    return sum(_rows_of(system, f"{root}/{name}") for name in names), names


def _rows_of(system: fs.FileSystem, name: str) -> int:
    try:
        with system.open_input_file(name) as file:
            return int(pq.read_metadata(file).num_rows)
    except (OSError, pa.ArrowInvalid):
        return 0


def read_file(path: str, name: str) -> io.BytesIO:
    """A small data file, read at once. Raises FileNotFoundError when it is gone."""
    with open_file(path, name) as file:
        return io.BytesIO(file.read())


def open_file(path: str, name: str) -> pa.NativeFile:
    """A data file of the table at `path` for reading. Raises FileNotFoundError when it is gone."""
    system, root = commits.located(path)
    return system.open_input_file(f"{root}/{name}")
