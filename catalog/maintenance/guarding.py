"""Which guard rail, if any, keeps a replacement from being applied by itself."""

from __future__ import annotations

import datetime as dt

from catalog.plan.picture import Guard
from ingest.contract.views import Staged


def stopped_by(guard: Guard, staged: Staged, rows: int, now: dt.datetime) -> str:
    """The guard rail that a change of `staged` stops at, in words; empty when it may go ahead.

    `rows` are the target's, `now` is in UTC.
    """
    changed = staged.added + staged.removed + staged.changed
    if guard.rows is not None and changed > guard.rows:
        return f"MAX ROWS is {guard.rows}, and {changed} rows would change"
    percent = 100.0 * changed / rows if rows > 0 else 100.0 if changed else 0.0
    if guard.percent is not None and percent > guard.percent:
        return (
            f"MAX PERCENT is {guard.percent:g}, and {percent:.4g} percent of the rows would change"
        )
    if guard.window is not None and not _within(guard.window, now.hour * 60 + now.minute):
        start, end = (f"{minute // 60:02d}:{minute % 60:02d}" for minute in guard.window)
        return f"WINDOW is {start}-{end} UTC, and it is {now:%H:%M}"
    return ""


def _within(window: tuple[int, int], minute: int) -> bool:
    start, end = window
    if start <= end:
        return start <= minute < end
    return minute >= start or minute < end
