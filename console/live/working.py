"""Where websockets' synchronous work is done: two pools, so that telling never waits for reading.

The catalog is plain synchronous Python. Statements and reads may take long and have many threads;
taking what is there already is quick and has a few of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from django.db import close_old_connections

from catalog.results import Batch, Flow

T = TypeVar("T")
VOUCH = 15.0
"""Seconds after which it is asked again whether somebody may still be here."""
_READING = ThreadPoolExecutor(32, "socket-statement")
_TELLING = ThreadPoolExecutor(4, "socket-tell")


async def work(function: Callable[..., T], *arguments: Any) -> T:
    """Do something that may take long in a thread, with a database connection that works."""
    return await _in(_READING, function, *arguments)


async def quick(function: Callable[..., T], *arguments: Any) -> T:
    """Do something short in a thread that nothing long runs in."""
    return await _in(_TELLING, function, *arguments)


async def batches(flow: Flow, still: Callable[[], bool]) -> AsyncGenerator[Batch]:
    """What a stream gives, as it comes, for as long as `still` says yes.

    Raises HeadraceError when the stream cannot go on. The stream is closed at the end.
    """
    loop, more = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(more.set)

    flow.listen(tell)
    asked = loop.time()
    try:
        while not flow.finished:
            more.clear()
            batch = await _in(_READING if flow.reads else _TELLING, flow.take)
            if batch is not None:
                yield batch
            if loop.time() - asked > VOUCH:
                asked = loop.time()
                if not await work(still):
                    return
            if batch is None and not flow.finished:
                with suppress(TimeoutError):
                    await asyncio.wait_for(more.wait(), VOUCH)
    finally:
        flow.close()


async def _in(pool: ThreadPoolExecutor, function: Callable[..., T], *arguments: Any) -> T:
    def connected() -> T:
        close_old_connections()
        return function(*arguments)

    return await asyncio.get_running_loop().run_in_executor(pool, connected)
