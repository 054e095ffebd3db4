"""Fail points of the whole product: HEADRACE_FAIL_POINT, as each process takes it at its start.

`name` or `name:n` arms every start; `name:n:pid` lets the process `pid` die there instead.
`@directory` arms one start only: the first process of a kind (`feed`, `worker`, `views`, `web`)
that finds a file of that name in the directory takes it away and is armed with what it says; the
lives after it go on.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings

from ingest import engine


def arm(process: str) -> None:
    """Arm this process, one of those kinds; raises ValueError for an unknown point."""
    wanted = settings.HEADRACE_FAIL_POINT
    if wanted.startswith("@"):
        wanted = _taken(Path(wanted[1:]) / process)
    name, count, victim, *_ = [*wanted.split(":"), "", ""]
    engine.arm_fail_point(name, int(count or 1), int(victim or 0))


def _taken(file: Path) -> str:
    """The file's text for the one who gets to remove it."""
    with suppress(FileNotFoundError):
        text = file.read_text().strip()
        file.unlink()
        return text
    return ""
