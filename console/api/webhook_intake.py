"""Accepted requests to disk: many together, each told only when its batch is there."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from ingest.contract.inbox import Accepted, Inbox
from ingest.errors import Transient

PACE = 0.1
"""Seconds between two batches, at least; a request after a silence does not wait."""
MOST_BYTES = 64 * 2**20
"""Bytes of requests that may wait for the disk in one process."""


@dataclass(frozen=True)
class _Waiting:
    request: Accepted
    size: int
    kept: asyncio.Future[None]


class Intake:
    """One feed's requests in this process; used in one event loop."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._waiting: list[_Waiting] = []
        self._bytes = 0
        self._last = 0.0
        self._task: asyncio.Task[None] | None = None

    async def keep(self, request: Accepted, size: int) -> None:
        """Return when the request (of `size` bytes) is on disk. Raises Transient when it is not
        known to be, or too many others wait."""
        if self._bytes + size > MOST_BYTES:
            raise Transient("too many requests are waiting to be kept")
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(request, size, kept))
        self._bytes += size
        if self._task is None:
            self._task = asyncio.create_task(self._write())
        await kept

    async def _write(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(max(0.0, self._last + PACE - time.monotonic()))
                batch, self._waiting = self._waiting, []
                await self._write_batch(batch)
                self._bytes -= sum(one.size for one in batch)
                self._last = time.monotonic()
        finally:
            self._task = None

    async def _write_batch(self, batch: list[_Waiting]) -> None:
        error: BaseException | None = None
        try:
            await asyncio.to_thread(self._inbox.write, [one.request for one in batch])
        except Exception as failure:
            error = failure
        for one in batch:
            if one.kept.done():
                continue
            if error is None:
                one.kept.set_result(None)
            else:
                one.kept.set_exception(error)
