"""Delta tables by path: where they are, what their commits say, appends that carry metadata.

Commit files are read straight from `_delta_log`, which costs a fraction of a Spark job, so the
warehouse must be reachable from every process of the product, not only from Spark.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession

from ingest.contract.log import Commit
from ingest.contract.plane import Plane


@dataclass(frozen=True)
class Version:
    """One Delta commit. `metadata` is its userMetadata, empty without one; `added` are the data
    files it added, relative to the table; `metrics` are Spark's own numbers about it. `recorded`
    are the files with the changes of a table that records them; `removes`: data files went.
    `at`: when it was committed (ms), by Spark's clock."""

    number: int
    metadata: str
    added: tuple[str, ...]
    operation: str = ""
    metrics: Mapping[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    removes: bool = False
    at: int = 0


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
    return [version for version in _known(path).refresh() if version.number > after]


def latest(path: str) -> int:
    """Number of the newest version; -1 when there is no table."""
    found = _known(path).refresh()
    return found[-1].number if found else -1


def find(path: str, wanted: Callable[[Version], bool]) -> Version | None:
    """The newest commit that is `wanted`, or None."""
    return next(filter(wanted, reversed(_known(path).refresh())), None)


def last_commit(plane: Plane, feed: str) -> tuple[int, Commit] | None:
    """The newest batch in a feed's log and its version; maintenance commits are passed over."""
    for version in reversed(_known(log_path(plane, feed)).refresh()):
        commit = log_commit(version)
        if commit is not None:
            return version.number, commit
    return None


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


def trimmed_to(version: Version) -> int:
    """The time (ms) up to which a log's version removed the rows; -1 when it removed none."""
    if not version.metadata.startswith('{"trimmed"'):
        return -1
    return int(json.loads(version.metadata)["trimmed"])


def remove(path: str) -> None:
    """Delete a table's files; nothing happens when there is none."""
    system, root = fs.FileSystem.from_uri(_uri(path))
    if system.get_file_info(root).type == fs.FileType.Directory:
        system.delete_dir(root)
    with _lock:
        for known in [known for known in _logs if known == path or known.startswith(f"{path}/")]:
            del _logs[known]


def bytes_at_most(path: str) -> int | None:
    """Bytes of a table's live data files, or more: what its commits wrote since it was last
    written anew. None when its commits do not tell."""
    found = 0
    for version in reversed(versions(path)):
        metrics = version.metrics
        written = metrics.get("numOutputBytes") or metrics.get("numTargetBytesAdded")
        if version.added and written is None:
            return None
        found += int(written or 0)
        if version.number == 0 or (version.operation == "WRITE" and version.removes):
            return found
    return None


def rows_written(path: str, besides: Collection[str] = ()) -> tuple[int, set[str]]:
    """Rows in the finished data files of a folder, whether committed or not, and the files'
    names; those of `besides` are left out."""
    system, root = fs.FileSystem.from_uri(_uri(path))
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


def open_file(path: str, name: str) -> pa.NativeFile:
    """A data file of the table at `path` for reading. Raises FileNotFoundError when it is gone."""
    system, root = fs.FileSystem.from_uri(_uri(path))
    return system.open_input_file(f"{root}/{name}")


def _moment(version: Version) -> int:
    """The time (ms) of the rows that a version of a log, or of a view's changes, added; -1 for
    what adds none."""
    try:
        return int(json.loads(version.metadata).get("time", -1))
    except (ValueError, AttributeError):
        return -1


class _DeltaLog:
    """The commits of one table that this process has seen."""

    def __init__(self, path: str) -> None:
        self._system, root = fs.FileSystem.from_uri(_uri(path))
        self._folder = f"{root}/_delta_log"
        self._seen: list[Version] = []
        self._lock = threading.Lock()

    def refresh(self) -> list[Version]:
        """Every commit there is now; looks only for ones newer than those seen."""
        with self._lock:
            if not self._seen:
                self._seen = self._needed(self._numbers())
            fresh = list(self._from(self._seen[-1].number + 1)) if self._seen else []
            self._seen += fresh
            if any(trimmed_to(version) >= 0 for version in fresh):
                self._seen = _since_trimmed(self._seen)
            return list(self._seen)

    def _needed(self, numbers: list[int]) -> list[Version]:
        """The versions of these `numbers` that tell of rows which are still there: a log grows
        by several commits a second, and the older ones speak of rows that were trimmed."""
        found: list[Version] = []
        trimmed = -1
        for number in reversed(numbers):
            version = self._read(number)
            if version is None and not found:
                continue
            if version is None or (found and number + 1 < found[-1].number):
                break
            found.append(version)
            trimmed = max(trimmed, trimmed_to(version))
            if -1 < _moment(version) <= trimmed:
                break
        return found[::-1]

    def _numbers(self) -> list[int]:
        selector = fs.FileSelector(self._folder, allow_not_found=True)
        names = [info.base_name for info in self._system.get_file_info(selector)]
        return sorted(int(n[:20]) for n in names if len(n) == 25 and n.endswith(".json"))

    def _from(self, number: int) -> Iterator[Version]:
        while (version := self._read(number)) is not None:
            yield version
            number += 1

    def _read(self, number: int) -> Version | None:
        try:
            with self._system.open_input_file(f"{self._folder}/{number:020d}.json") as file:
                text = file.read().decode()
            actions = [json.loads(line) for line in text.splitlines() if line]
        except (FileNotFoundError, ValueError):
            return None
        return _version(number, actions)


def _since_trimmed(versions: list[Version]) -> list[Version]:
    """The versions, less those that a process which starts now would not look at."""
    trimmed = max(trimmed_to(version) for version in versions)
    for index in range(len(versions) - 1, -1, -1):
        if -1 < _moment(versions[index]) <= trimmed:
            return versions[index:]
    return versions


def _version(number: int, actions: list[dict[str, Any]]) -> Version:
    info: dict[str, Any] = next((a["commitInfo"] for a in actions if "commitInfo" in a), {})
    added = tuple(a["add"]["path"] for a in actions if "add" in a)
    return Version(
        number,
        info.get("userMetadata") or "",
        added,
        info.get("operation") or "",
        info.get("operationMetrics") or {},
        tuple(a["cdc"]["path"] for a in actions if "cdc" in a),
        any("remove" in a for a in actions),
        int(info.get("timestamp") or 0),
    )


def _uri(path: str) -> str:
    return path if "://" in path else f"file://{path}"


_logs: dict[str, _DeltaLog] = {}
_lock = threading.Lock()


def _known(path: str) -> _DeltaLog:
    with _lock:
        return _logs.setdefault(path, _DeltaLog(path)) if path not in _logs else _logs[path]
