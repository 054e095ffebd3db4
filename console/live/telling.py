"""A statement's result, told over a websocket in one of two forms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

from catalog.results import Notice, Result, Rows, Stream
from console.live.frames import (
    dumps,
    error_payload,
    frame,
    row_frames,
    rows_text,
    slices,
)
from console.live.working import batches, quick
from console.values import describe, notice_body
from ingest.errors import HeadraceError

Send = Callable[[str], Awaitable[None]]


class Teller(Protocol):
    """Tells results and errors to one client; every call waits until the client takes it."""

    async def tell(self, result: Result | Stream, still: Callable[[], bool]) -> None:
        """A result, whole; a stream to its end, or for as long as `still` says yes."""

    async def error(self, error: HeadraceError, sql: str | None = None) -> None:
        """What went wrong; `sql` is the text that its position is in."""


class Typed:
    """`{"type", "payload"}` frames, a row each: the field's form."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def tell(self, result: Result | Stream, still: Callable[[], bool]) -> None:
        """CommandStarting, Rows, Row.., CommandComplete."""
        streams = isinstance(result, Stream)
        has_rows = streams or isinstance(result, Rows)
        await self._frame("CommandStarting", {"has_rows": has_rows, "is_streaming": streams})
        await self._notices(result.notices)
        if isinstance(result, Stream):
            await self._frame("Rows", describe(result.relation))
            async with aclosing(batches(result.flow, still)) as found:
                async for batch in found:
                    for text in await quick(row_frames, result.relation, batch):
                        await self._send(text)
        elif isinstance(result, Rows):
            await self._frame("Rows", describe(result.relation))
            for rows in slices(result.relation, result.data):
                for row in rows:
                    await self._frame("Row", row)
        else:
            for name, value in result.parameters:
                await self._frame("ParameterStatus", {"name": name, "value": value})
        await self._frame("CommandComplete", result.tag)

    async def error(self, error: HeadraceError, sql: str | None = None) -> None:
        """An Error frame."""
        await self._frame("Error", error_payload(error, sql))

    async def _notices(self, notices: tuple[Notice, ...]) -> None:
        for notice in notices:
            await self._frame("Notice", notice_body(notice))

    async def _frame(self, kind: str, payload: object) -> None:
        await self._send(frame(kind, payload))


class Whole:
    """The parts of `POST /query`'s results, one after another, many rows in a message."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def tell(self, result: Result | Stream, still: Callable[[], bool]) -> None:
        """`{"desc", "notices"}`, then `{"rows"}` again and again, then `{"tag"}` or `{"ok"}`."""
        notices = [notice_body(notice) for notice in result.notices]
        if not isinstance(result, Stream | Rows):
            await self._send(dumps({"ok": result.tag, "notices": notices}))
            return
        await self._send(dumps({"desc": describe(result.relation), "notices": notices}))
        if isinstance(result, Stream):
            async with aclosing(batches(result.flow, still)) as found:
                async for batch in found:
                    await self._send(await quick(rows_text, result.relation, batch))
        else:
            for rows in slices(result.relation, result.data):
                await self._send(dumps({"rows": rows}))
        await self._send(dumps({"tag": result.tag}))

    async def error(self, error: HeadraceError, sql: str | None = None) -> None:
        """`{"error"}`."""
        await self._send(dumps({"error": error_payload(error, sql)}))
