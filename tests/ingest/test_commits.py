"""Reading a table's commits, in their folder or packed, in a process that starts or was idle."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingest import commits, delta
from ingest.commits import Commits, Version
from ingest.errors import Transient

FAR = 2**60


@pytest.fixture(autouse=True)
def _small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "PACKED", 5)


def _commit(table: Path, number: int, trimmed: int = -1) -> None:
    folder = table / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    said = {"trimmed": trimmed} if trimmed >= 0 else {"time": number * 10, "epoch": 1}
    info = {"userMetadata": json.dumps(said), "operation": "WRITE", "operationMetrics": {"n": "1"}}
    actions = [{"commitInfo": info}, {"add": {"path": f"{number}.parquet"}}]
    (folder / f"{number:020d}.json").write_text("\n".join(map(json.dumps, actions)))


def _checkpoint(table: Path, number: int) -> None:
    (table / "_delta_log" / f"{number:020d}.checkpoint.parquet").write_bytes(b"")


def _table(path: Path, upto: int, checkpoint: int) -> list[Version]:
    for number in range(upto + 1):
        _commit(path, number)
    _checkpoint(path, checkpoint)
    return Commits(str(path)).refresh()


def _files(table: Path) -> set[str]:
    return {file.name for file in (table / "_delta_log").iterdir()}


def test_packed_commits_say_what_they_said(tmp_path: Path) -> None:
    before = _table(tmp_path, 12, checkpoint=9)
    assert Commits(str(tmp_path)).pack(0, FAR) == 9
    assert Commits(str(tmp_path)).refresh() == before
    assert [version.number for version in before] == list(range(13))
    kept = {f"{number:020d}.json" for number in range(9, 13)}
    assert _files(tmp_path) == {*kept, f"{9:020d}.checkpoint.parquet"}


def test_what_belongs_to_packed_commits_goes_with_them(tmp_path: Path) -> None:
    _table(tmp_path, 12, checkpoint=9)
    folder = tmp_path / "_delta_log"
    _checkpoint(tmp_path, 5)
    for name in (f"{3:020d}.crc", f".{3:020d}.json.crc", "_last_checkpoint", f"{11:020d}.crc"):
        (folder / name).write_text("{}")
    Commits(str(tmp_path)).pack(0, FAR)
    left = {f"{9:020d}.checkpoint.parquet", "_last_checkpoint", f"{11:020d}.crc"}
    assert _files(tmp_path) == left | {f"{number:020d}.json" for number in range(9, 13)}


@pytest.mark.parametrize("checkpoint", [0, 4])
def test_few_commits_are_left_alone(tmp_path: Path, checkpoint: int) -> None:
    _table(tmp_path, 12, checkpoint)
    assert Commits(str(tmp_path)).pack(0, FAR) == 0
    assert len(_files(tmp_path)) == 14


def test_a_checkpoint_must_be_old_enough(tmp_path: Path) -> None:
    _table(tmp_path, 12, checkpoint=9)
    written = (
        tmp_path / "_delta_log" / f"{9:020d}.checkpoint.parquet"
    ).stat().st_mtime_ns // 10**6
    assert Commits(str(tmp_path)).pack(60_000, written + 59_000) == 0
    assert Commits(str(tmp_path)).pack(60_000, written + 61_000) == 9


def test_a_process_that_was_idle_finds_what_was_packed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = Commits(str(tmp_path))
    _table(tmp_path, 2, checkpoint=0)
    assert len(idle.refresh()) == 3
    whole = _table(tmp_path, 40, checkpoint=15)
    assert Commits(str(tmp_path)).pack(0, FAR) == 15
    _checkpoint(tmp_path, 30)
    assert Commits(str(tmp_path)).pack(0, FAR) == 15
    monkeypatch.setattr(commits, "_IDLE", -1)
    assert idle.refresh() == whole
    _commit(tmp_path, 41)
    assert [version.number for version in idle.refresh()] == list(range(42))


def test_an_idle_process_that_lacks_commits_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = Commits(str(tmp_path))
    _table(tmp_path, 2, checkpoint=0)
    idle.refresh()
    _table(tmp_path, 12, checkpoint=9)
    for number in range(9):
        (tmp_path / "_delta_log" / f"{number:020d}.json").unlink()
    monkeypatch.setattr(commits, "_IDLE", -1)
    assert [version.number for version in idle.refresh()] == [9, 10, 11, 12]


def test_packs_of_what_was_trimmed_go(tmp_path: Path) -> None:
    for number in range(30):
        _commit(tmp_path, number)
    for last in (9, 19, 29):
        _checkpoint(tmp_path, last)
        Commits(str(tmp_path)).pack(0, FAR)
    packs = sorted((tmp_path / "_packed").iterdir())
    assert len(packs) == 3
    _commit(tmp_path, 30, trimmed=200)
    for number in range(31, 38):
        _commit(tmp_path, number)
    _checkpoint(tmp_path, 37)
    Commits(str(tmp_path)).pack(0, FAR)
    left = sorted((tmp_path / "_packed").iterdir())
    assert left[:-1] == packs[1:]
    first = Commits(str(tmp_path)).refresh()[0]
    assert first.number == 20, "the newest that was trimmed, so that nothing seems to be missing"


def test_a_crash_while_packed_commits_are_deleted(tmp_path: Path) -> None:
    """The pack is there, and so are the last of its commits."""
    folder = tmp_path / "_delta_log"
    _table(tmp_path, 12, checkpoint=9)
    last = {file.name: file.read_bytes() for file in folder.glob("*.json")}
    Commits(str(tmp_path)).pack(0, FAR)
    for number in range(5, 9):
        (folder / f"{number:020d}.json").write_bytes(last[f"{number:020d}.json"])
    assert [version.number for version in Commits(str(tmp_path)).refresh()] == list(range(13))
    for number in range(13, 22):
        _commit(tmp_path, number)
    _checkpoint(tmp_path, 19)
    assert Commits(str(tmp_path)).pack(0, FAR) == 14
    assert [version.number for version in Commits(str(tmp_path)).refresh()] == list(range(22))


def test_two_who_delete_the_same_table(tmp_path: Path) -> None:
    """Either may be told to try again; nobody sees the file system's error."""
    root = tmp_path / "table"
    for number in range(1_500):
        place = root / f"{number % 30}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.parquet").write_bytes(b"")
    with ThreadPoolExecutor(4) as pool:
        tries = [pool.submit(delta.remove, str(root)) for _ in range(4)]
    failed = [error for error in (one.exception() for one in tries) if error is not None]
    assert all(isinstance(error, Transient) for error in failed), failed
    delta.remove(str(root))
    assert not root.exists()


def _rewritten(table: Path, number: int, gone: int, *, marked: bool = False) -> None:
    """A commit that takes one file away for another."""
    added: dict[str, object] = {"path": f"{number}.parquet"}
    added |= {"deletionVector": {"storageType": "u"}} if marked else {}
    actions = [{"remove": {"path": f"{gone}.parquet"}}, {"add": added}]
    file = table / "_delta_log" / f"{number:020d}.json"
    file.write_text("\n".join(map(json.dumps, actions)))


def _live(table: Path, version: int) -> list[str] | None:
    commits.forget(str(table))
    return delta.live_files(str(table), version)


def test_the_files_of_a_version(tmp_path: Path) -> None:
    """Before packing and after it; none where a version is not known."""
    _table(tmp_path, 12, checkpoint=9)
    _rewritten(tmp_path, 4, gone=1)
    _rewritten(tmp_path, 11, gone=4)
    expected = [f"{number}.parquet" for number in (0, 2, 3, *range(5, 13))]
    for packed in (False, True):
        assert not packed or Commits(str(tmp_path)).pack(0, FAR) == 9
        assert _live(tmp_path, 12) == expected
        assert _live(tmp_path, 3) == [f"{number}.parquet" for number in range(4)]
        assert _live(tmp_path, 4) == ["0.parquet", "2.parquet", "3.parquet", "4.parquet"]
        assert _live(tmp_path, 13) is None
    for file in (tmp_path / "_packed").iterdir():
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            del line["removed"], line["marks"]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert _live(tmp_path, 3) == [f"{number}.parquet" for number in range(4)]
    assert _live(tmp_path, 4) is None


def test_files_that_cannot_be_told(tmp_path: Path) -> None:
    """Some of their rows do not count, or the first commits are gone."""
    _table(tmp_path, 5, checkpoint=0)
    _rewritten(tmp_path, 5, gone=2, marked=True)
    assert _live(tmp_path, 4) == [f"{number}.parquet" for number in range(5)]
    assert _live(tmp_path, 5) is None
    (tmp_path / "_delta_log" / f"{0:020d}.json").unlink()
    assert _live(tmp_path, 4) is None
