"""The thread that one client's session lives in: synchronous work, one piece after another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")


class SessionThread:
    """Runs functions in a daemon thread of its own, which keeps its own database connection."""

    def __init__(self, name: str) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def start(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Begin `function(*arguments)` in the thread, after whatever it does now."""
        future: asyncio.Future[T] = self._loop.create_future()

        def work() -> None:
            try:
                result = function(*arguments)
            except BaseException as error:
                self._tell(_fail, future, error)
            else:
                self._tell(_succeed, future, result)

        self._work.put(work)
        return future

    def close(self) -> None:
        """End the thread when its work is done."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            close_old_connections()
            work()
        connections.close_all()

    def _tell(self, how: Callable[..., None], future: asyncio.Future[Any], what: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(how, future, what)


def _succeed(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
