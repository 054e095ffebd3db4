"""What the commits of Delta tables say, read straight from `_delta_log`, and packed when many.

Delta lists that folder whole at each commit: ten thousand old commits in it double what a commit
takes (docs/adr/0005), and a feed's log gets several a second. So the old ones that a checkpoint
covers are packed into files of their own beside the folder, where only this module looks.
"""

from __future__ import annotations

import json
import threading
import time as clock
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pyarrow import fs

PACKED = 200
"""So many commits at least make a pack."""
_IDLE = 120
"""Seconds: who has not looked for longer may have missed commits that were packed since."""


@dataclass(frozen=True)
class Version:
    """One Delta commit. `metadata` is its userMetadata, empty without one; `added` are the data
    files it added, relative to the table; `metrics` are Spark's own numbers about it. `recorded`
    are the files with the changes of a table that records them; `removes`: data files went, and
    `removed` are their names, none where an older release packed the commit. `marks`: some files
    came with a deletion vector. `at`: when it was committed (ms), by Spark's clock."""

    number: int
    metadata: str
    added: tuple[str, ...]
    operation: str = ""
    metrics: Mapping[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    removes: bool = False
    at: int = 0
    removed: tuple[str, ...] = ()
    marks: bool = False


@dataclass(frozen=True)
class _Pack:
    """A file of packed commits: their numbers, and the latest time (ms) of rows they added."""

    first: int
    last: int
    moment: int

    @property
    def name(self) -> str:
        return f"{self.first:020d}-{self.last:020d}-{self.moment}.jsonl"

    @classmethod
    def named(cls, name: str) -> _Pack:
        first, last, moment = name.removesuffix(".jsonl").split("-", 2)
        return cls(int(first), int(last), int(moment))


def trimmed_to(version: Version) -> int:
    """The time (ms) up to which a log's version removed the rows; -1 when it removed none."""
    if not version.metadata.startswith('{"trimmed"'):
        return -1
    return int(json.loads(version.metadata)["trimmed"])


def located(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path in it."""
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
        path if "://" in path else f"file://{path}"
    )
    return found


def of(path: str) -> Commits:
    """What this process knows of the commits of the table at `path`."""
    with _lock:
        if path not in _known:
            _known[path] = Commits(path)
        return _known[path]


def forget(path: str) -> None:
    """Drop what is known of the tables at `path` and under it."""
    with _lock:
        for known in [one for one in _known if one == path or one.startswith(f"{path}/")]:
            del _known[known]


class Commits:
    """The commits of one table that this process has seen."""

    def __init__(self, path: str) -> None:
        self._system, root = located(path)
        self._folder = f"{root}/_delta_log"
        self._packs_folder = f"{root}/_packed"
        self._seen: list[Version] = []
        self._looked = 0.0
        self._lock = threading.Lock()

    def refresh(self) -> list[Version]:
        """Every commit there is now; looks only for ones newer than those seen."""
        with self._lock:
            now = clock.monotonic()
            if not self._seen:
                self._seen = self._needed()
            elif now - self._looked > _IDLE:
                self._catch_up()
            fresh = list(self._from(self._seen[-1].number + 1)) if self._seen else []
            self._seen += fresh
            self._looked = now
            if any(trimmed_to(version) >= 0 for version in fresh):
                self._seen = _since_trimmed(self._seen)
            return list(self._seen)

    def pack(self, keep: int, now: int) -> int:
        """Pack the commits that a checkpoint covers which is older than `keep` (ms) at `now` (ms);
        how many. Times before them cannot be read by version any more. One process at a time.

        Packs that only tell of rows that were trimmed go.
        """
        infos = self._system.get_file_info(fs.FileSelector(self._folder, allow_not_found=True))
        files = {info.base_name: info for info in infos if _number(info.base_name) >= 0}
        covered = max(
            (
                _number(name)
                for name, info in files.items()
                if ".checkpoint." in name and _written(info) <= now - keep
            ),
            default=0,
        )
        old = sorted(name for name in files if _number(name) < covered)
        numbers = [_number(name) for name in old if _is_commit(name)]
        if len(numbers) < PACKED:
            return 0
        versions = [version for n in numbers if (version := self._read(n)) is not None]
        self._write(versions)
        for name in old:
            self._system.delete_file(f"{self._folder}/{name}")
        self._drop_packs(max(map(trimmed_to, self.refresh()), default=-1))
        return len(numbers)

    def _write(self, versions: list[Version]) -> None:
        moment = max(map(_moment, versions))
        pack = _Pack(versions[0].number, versions[-1].number, moment)
        self._system.create_dir(self._packs_folder)
        unfinished = f"{self._packs_folder}/.{uuid.uuid4().hex}"
        with self._system.open_output_stream(unfinished) as file:
            for version in versions:
                file.write(json.dumps(asdict(version)).encode() + b"\n")
        self._system.move(unfinished, f"{self._packs_folder}/{pack.name}")

    def _drop_packs(self, trimmed: int) -> None:
        """Drop packs of what is trimmed, but for the last: it says that nothing is missing."""
        done = [pack for pack in self._packs() if pack.moment <= trimmed]
        for pack in done[:-1] if trimmed >= 0 else ():
            self._system.delete_file(f"{self._packs_folder}/{pack.name}")

    def _needed(self) -> list[Version]:
        """The versions that tell of rows which are still there: a log grows by several commits a
        second, and the older ones speak of rows that were trimmed."""
        found: list[Version] = []
        trimmed = -1
        packed: dict[int, Version] = {}
        number = max(self._numbers(), default=-1)
        while number >= 0:
            version = self._read(number) or packed.get(number)
            if version is None:
                packed = self._unpacked(number)
                version = packed.get(number)
            number -= 1
            if version is None and found:
                break
            if version is not None:
                found.append(version)
                trimmed = max(trimmed, trimmed_to(version))
                if -1 < _moment(version) <= trimmed:
                    break
        return found[::-1]

    def _catch_up(self) -> None:
        """Take in what was packed since the last look; a pack is there before its commits go."""
        while True:
            self._seen += self._from(self._seen[-1].number + 1)
            following = self._seen[-1].number + 1
            if max(self._numbers(), default=-1) < following:
                self._seen = _since_trimmed(self._seen)
                return
            packed = self._unpacked(following)
            self._seen += [packed[number] for number in sorted(packed) if number >= following]
            if self._seen[-1].number < following and self._read(following) is None:
                self._seen = self._needed()
                return

    def _unpacked(self, number: int) -> dict[int, Version]:
        """The commits of the pack that has `number`."""
        for pack in self._packs():
            if pack.first <= number <= pack.last:
                with self._system.open_input_file(f"{self._packs_folder}/{pack.name}") as file:
                    lines = file.read().decode().splitlines()
                return {version.number: version for version in map(_of_pack, lines)}
        return {}

    def _packs(self) -> list[_Pack]:
        selector = fs.FileSelector(self._packs_folder, allow_not_found=True)
        names = [info.base_name for info in self._system.get_file_info(selector)]
        packs = (_Pack.named(name) for name in names if name.endswith(".jsonl"))
        return sorted(packs, key=lambda pack: pack.first)

    def _numbers(self) -> Iterable[int]:
        selector = fs.FileSelector(self._folder, allow_not_found=True)
        names = (info.base_name for info in self._system.get_file_info(selector))
        return [_number(name) for name in names if _is_commit(name)]

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


def _number(name: str) -> int:
    """The version that a file in `_delta_log` is about; -1 for other files. Hadoop's own checksum
    of a file has a dot before the same name."""
    bare = name.removeprefix(".")
    return int(bare[:20]) if bare[:20].isdigit() and bare[20:21] == "." else -1


def _is_commit(name: str) -> bool:
    return len(name) == 25 and name.endswith(".json") and _number(name) >= 0


def _written(info: fs.FileInfo) -> float:
    """When a file was last written (ms)."""
    return float(info.mtime_ns) / 1e6 if info.mtime_ns is not None else float("inf")


def _moment(version: Version) -> int:
    """The time (ms) of the rows that a version of a log, or of a view's changes, added; -1 for
    what adds none."""
    try:
        return int(json.loads(version.metadata).get("time", -1))
    except (ValueError, AttributeError):
        return -1


def _since_trimmed(versions: list[Version]) -> list[Version]:
    """The versions, less those that a process which starts now would not look at."""
    trimmed = max(trimmed_to(version) for version in versions)
    for index in range(len(versions) - 1, -1, -1):
        if -1 < _moment(versions[index]) <= trimmed:
            return versions[index:]
    return versions


def _of_pack(line: str) -> Version:
    fields = json.loads(line)
    names = {name: tuple(fields.get(name, ())) for name in ("added", "recorded", "removed")}
    return Version(**{**fields, **names})


def _version(number: int, actions: list[dict[str, Any]]) -> Version:
    info: dict[str, Any] = next((a["commitInfo"] for a in actions if "commitInfo" in a), {})
    added = [a["add"] for a in actions if "add" in a]
    removed = tuple(a["remove"]["path"] for a in actions if "remove" in a)
    return Version(
        number,
        info.get("userMetadata") or "",
        tuple(file["path"] for file in added),
        info.get("operation") or "",
        info.get("operationMetrics") or {},
        tuple(a["cdc"]["path"] for a in actions if "cdc" in a),
        bool(removed),
        int(info.get("timestamp") or 0),
        removed,
        any(file.get("deletionVector") for file in added),
    )


_known: dict[str, Commits] = {}
_lock = threading.Lock()
