"""Long computations that run in this process: followed, and stopped by their tag."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession
from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.views import Hydration
from ingest.errors import IngestError


@dataclass
class Work:
    """One computation with a session of its own."""

    live: SparkSession
    stopped: bool = False
    failed: list[Exception] = field(default_factory=list)

    def stop(self) -> None:
        """End it as soon as Spark can."""
        self.stopped = True
        self.live.interruptAll()

    def check(self) -> None:
        """Raise what stopped the work, if anything did."""
        if self.failed:
            raise self.failed[0]
        if self.stopped:
            raise IngestError("canceling statement due to user request", sqlstate="57014")


@contextmanager
def alone(plane: Plane, tag: str) -> Iterator[Work]:
    """A session for the block's work alone, which `cancel` ends by its tag."""
    with spark.alone(plane, "views") as live:
        work = Work(live)
        with _lock:
            _running.setdefault(tag, []).append(work)
        try:
            yield work
        except spark.FAILURES:
            work.check()
            raise
        finally:
            with _lock:
                _running[tag].remove(work)
                if not _running[tag]:
                    del _running[tag]


def cancel(tag: str) -> None:
    """Stop everything in this process that runs under the tag."""
    with _lock:
        found = list(_running.get(tag, ()))
    for work in found:
        work.stop()


@contextmanager
def followed(work: Work, path: str, progress: Callable[[Hydration], None]) -> Iterator[None]:
    """Tell `progress` how far the block's write to the table at `path` is, in this thread.

    What `progress` raises stops the work.
    """
    follower = _Follower(work, path, progress)
    follower.tell(0)
    work.check()
    work.live.registerProgressHandler(follower)
    try:
        yield
    finally:
        work.live.removeProgressHandler(follower)
    follower.tell(100)


class _Follower(ProgressHandler):
    """Spark's progress told as ours: percent of the tasks known so far, rows in finished files."""

    def __init__(self, work: Work, path: str, progress: Callable[[Hydration], None]) -> None:
        self._work = work
        self._path = path
        self._progress = progress
        self._began = clock.monotonic()
        self._before = delta.rows_written(path)[1]
        self._percent = 0

    def __call__(
        self,
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,  # noqa: FBT001
    ) -> None:
        """Spark's call, every second or two."""
        found = list(stages or ())
        tasks = sum(stage.num_tasks for stage in found)
        ended = sum(stage.num_completed_tasks for stage in found)
        if not tasks or done or self._work.stopped or self._work.failed:
            return
        self._percent = max(self._percent, min(99, 100 * ended // tasks))
        self.tell(self._percent)

    def tell(self, percent: int) -> None:
        """Call `progress`; a failure of it is kept and stops the work."""
        rows = delta.rows_written(self._path, self._before)[0]
        rate = rows / max(clock.monotonic() - self._began, 0.001)
        try:
            self._progress(Hydration(percent, rows, rate))
        except Exception as error:
            self._work.failed.append(error)
            if percent < 100:
                self._work.stop()


_running: dict[str, list[Work]] = {}
_lock = threading.Lock()
