"""Steps that run: a small pool, in which slow views never take every place."""

from __future__ import annotations

import logging
import threading
import time as clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from catalog.maintenance.rounds import Shard, Work
from catalog.planes import plane_of
from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.views import Step, View, ViewState
from ingest.errors import HeadraceError

PLACES = 3
SLOW = 5.0
"""Seconds after which a view counts as slow; one place is always left for the quick ones."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """How a step to `upto` (ms) ended after `seconds`: with the view's new state, or an error."""

    shard: str
    upto: int
    seconds: float
    step: Step | None = None
    state: ViewState | None = None
    error: HeadraceError | None = None


class Steps:
    """Runs steps and keeps their outcomes until they are taken; `wake` is called for each."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._pool = ThreadPoolExecutor(PLACES, thread_name_prefix="step")
        self._lock = threading.Lock()
        self._running: dict[str, bool] = {}
        self._ended: list[Outcome] = []

    def start(self, work: Work, one: Shard) -> bool:
        """Begin a step if there is a place for it."""
        view = one.kept.view
        slow = one.took > SLOW
        with self._lock:
            room = PLACES - 1 if slow else PLACES
            taken = sum(self._running.values()) if slow else len(self._running)
            full = taken >= room or len(self._running) >= PLACES
            if view is None or full or work.shard in self._running:
                return False
            self._running[work.shard] = slow
        plane = plane_of(one.kept.region)
        self._pool.submit(self._run, plane, view, work.upto, one.through)
        return True

    def taken(self) -> list[Outcome]:
        """The outcomes since the last call."""
        with self._lock:
            ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Wait for what runs; what it leads to is in Delta."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, plane: Plane, view: View, upto: int, since: int) -> None:
        began = clock.monotonic()
        step: Step | None = None
        state: ViewState | None = None
        failure: HeadraceError | None = None
        try:
            step = engine.step_view(plane, view, upto, since)
            state = engine.view_state(plane, view.shard)
        except HeadraceError as error:
            failure = error
        except Exception:
            _log.exception("a step of %s failed for a reason of ours", view.item)
            failure = HeadraceError("internal error", hint="The server's log says more.")
        seconds = clock.monotonic() - began
        with self._lock:
            self._running.pop(view.shard, None)
            self._ended.append(Outcome(view.shard, upto, seconds, step, state, failure))
        self._wake()
