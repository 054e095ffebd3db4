"""One life of one kind of process is armed by a file; every life by a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from console import fail_point
from ingest import engine


@pytest.fixture
def armed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    monkeypatch.setattr(engine, "arm_fail_point", lambda *given: found.append(given))
    return found


def test_a_name_arms_every_start(settings: Settings, armed: list[tuple[str, int, int]]) -> None:
    settings.HEADRACE_FAIL_POINT = "log written:3"
    fail_point.arm("feed")
    fail_point.arm("feed")
    assert armed == [("log written", 3, 0)] * 2


def test_a_file_arms_one_start_of_one_kind(
    tmp_path: Path, settings: Settings, armed: list[tuple[str, int, int]]
) -> None:
    settings.HEADRACE_FAIL_POINT = f"@{tmp_path}"
    (tmp_path / "worker").write_text("applied\n")
    for process in ("feed", "worker", "worker"):
        fail_point.arm(process)
    assert armed == [("", 1, 0), ("applied", 1, 0), ("", 1, 0)]


def test_another_process_may_be_the_one_that_dies(
    settings: Settings, armed: list[tuple[str, int, int]]
) -> None:
    settings.HEADRACE_FAIL_POINT = "apply committed:2:4711"
    fail_point.arm("web")
    assert armed == [("apply committed", 2, 4711)]


def test_the_victim_dies_once_and_the_process_goes_on() -> None:
    victim = subprocess.Popen(["sleep", "60"])
    engine.arm_fail_point("undo committed", 2, victim.pid)
    engine.pass_fail_point("undo committed")
    assert victim.poll() is None
    engine.pass_fail_point("undo committed")
    assert victim.wait(5) == -9
    engine.pass_fail_point("undo committed")
