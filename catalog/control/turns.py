"""Whose turn it is: folding a table waits for the steps of views that read it.

A fold takes all cores for as long as many steps take, and can begin a few seconds later as well.
"""

from __future__ import annotations

import time as clock

from catalog import snapshot
from catalog.maintenance.kept import kept_of
from catalog.models import ViewProgress
from ingest.contract.views import View

PATIENCE = 10.0
_PAUSE = 0.1


def after_steps(region: str, table: str, time: int, patience: float = PATIENCE) -> bool:
    """Wait until the views over `table` are complete through `time` (ms), `patience` seconds at
    most; whether they are. Those that refresh at times of their own do not count."""
    kept = kept_of(snapshot.current(region)).values()
    shards = [
        one.shard
        for one in kept
        if one.role == "live" and not one.options and _reads(one.view, table)
    ]
    waiting = ViewProgress.objects.filter(
        shard__in=shards, hydrated=True, complete_through__lt=time
    )
    behind = waiting.exclude(status="stalled")
    until = clock.monotonic() + patience
    while behind.exists():
        if clock.monotonic() > until:
            return False
        clock.sleep(_PAUSE)
    return True


def _reads(view: View | None, table: str) -> bool:
    return view is not None and any(source.item == table for source in view.inputs.values())
