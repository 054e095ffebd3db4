"""One life of one kind of process is armed by a file; every life by a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from console import fail_point
from ingest import engine


@pytest.fixture
def armed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(engine, "arm_fail_point", lambda name, n: found.append((name, n)))
    return found


def test_a_name_arms_every_start(settings: Settings, armed: list[tuple[str, int]]) -> None:
    settings.HEADRACE_FAIL_POINT = "log written:3"
    fail_point.arm("feed")
    fail_point.arm("feed")
    assert armed == [("log written", 3)] * 2


def test_a_file_arms_one_start_of_one_kind(
    tmp_path: Path, settings: Settings, armed: list[tuple[str, int]]
) -> None:
    settings.HEADRACE_FAIL_POINT = f"@{tmp_path}"
    (tmp_path / "worker").write_text("applied\n")
    for process in ("feed", "worker", "worker"):
        fail_point.arm(process)
    assert armed == [("", 1), ("applied", 1), ("", 1)]
