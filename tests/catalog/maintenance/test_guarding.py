"""Guard rails of replacements that apply themselves."""

from __future__ import annotations

import datetime as dt

import pytest

from catalog.maintenance.guarding import stopped_by
from catalog.plan.picture import Guard
from ingest.contract.views import Staged

AT_TEN = dt.datetime(2026, 1, 1, 10, 0, tzinfo=dt.UTC)
STAGED = Staged(added=3, removed=2, changed=5, bytes=100, as_of=1)


@pytest.mark.parametrize(
    ("guard", "stopped"),
    [
        (Guard(), ""),
        (Guard(rows=10), ""),
        (Guard(rows=9), "MAX ROWS is 9, and 10 rows would change"),
        (Guard(percent=1), ""),
        (Guard(percent=0.5), "MAX PERCENT is 0.5, and 1 percent of the rows would change"),
        (Guard(window=(540, 601)), ""),
        (Guard(window=(540, 600)), "WINDOW is 09:00-10:00 UTC, and it is 10:00"),
        (Guard(window=(1320, 601)), ""),
        (Guard(window=(1320, 60)), "WINDOW is 22:00-01:00 UTC, and it is 10:00"),
    ],
)
def test_rails(guard: Guard, stopped: str) -> None:
    assert stopped_by(guard, STAGED, 1000, AT_TEN) == stopped


def test_an_empty_target_has_no_share_of_rows() -> None:
    assert stopped_by(Guard(percent=50), Staged(0, 0, 0, 0, 1), 0, AT_TEN) == ""
    assert "100 percent" in stopped_by(Guard(percent=50), Staged(1, 0, 0, 0, 1), 0, AT_TEN)
