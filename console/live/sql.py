"""SQL over websockets: `/api/experimental/sql`, and the seed's `/query?query=`.

`?region=` in the address, or `region` in the first message, says which region it is about.
One statement at a time; a client that goes away has it cancelled. Sending waits for the client,
so what a slow one has not read is not kept here.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import Any, ClassVar
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from catalog import subscribing
from catalog.errors import SignInRefused
from catalog.results import Result, Stream
from catalog.sql.nodes.session import SetVariable
from catalog.sql.parse import parse_one
from catalog.sql.render import render
from console import execute
from console.choosing import in_query
from console.live import door, frames
from console.live.frames import BadFrame, Request, frame
from console.live.telling import Teller, Typed, Whole
from console.live.working import work
from ingest.errors import HeadraceError

GROUPS = ("catalog", "progress")
POLICY, TOO_LARGE, TOO_MANY, OURS = 1008, 1009, 1013, 1011
MOST_SOCKETS = 1000
MOST_WAITING = 16
"""Messages that a client may send ahead of their answers."""
PATIENCE = 15.0
"""Seconds that a client has for its first message."""
_log = logging.getLogger(__name__)


class _SqlSocket(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """What both kinds share: a session, one worker, and its end."""

    teller: Teller
    _open: ClassVar[set[object]] = set()
    _worker: asyncio.Task[None] | None = None
    _session: execute.UserSession | None = None

    async def connect(self) -> None:
        """Accept, unless there are too many already, and start working."""
        if len(self._open) >= MOST_SOCKETS:
            await self.close(code=TOO_MANY)
            return
        self._open.add(self)
        for group in GROUPS:
            await self.channel_layer.group_add(group, self.channel_name)
        self._worker = asyncio.create_task(self._work())

    async def disconnect(self, code: int) -> None:
        """Stop what runs."""
        self._open.discard(self)
        if self._worker is not None:
            self._worker.cancel()
            for group in GROUPS:
                await self.channel_layer.group_discard(group, self.channel_name)
        if self._session is not None:
            with suppress(HeadraceError):
                await work(self._session.cancel)
            self._session.close()

    async def catalog_changed(self, event: dict[str, Any]) -> None:
        """Something was created, altered or dropped: who follows it looks again."""
        subscribing.wake()

    async def progress_changed(self, event: dict[str, Any]) -> None:
        """A feed, a table or a view has come further."""
        subscribing.wake()

    async def _work(self) -> None:
        try:
            await self._answer()
        except OSError as error:
            _log.debug("a client left while it was told something: %s", error)
        except HeadraceError as error:
            await self.teller.error(error)
            await self.close(code=POLICY)
        except Exception:
            _log.exception("a SQL websocket failed")
            await self.close(code=OURS)

    async def _answer(self) -> None:
        """What each kind of socket says in its own form; this class only keeps the line."""
        raise NotImplementedError

    async def _run(self, visitor: door.Visitor, request: Request) -> None:
        """Run one request; raises the HeadraceError that ends it."""
        session = self._session
        if session is None:
            raise TypeError(request)
        if not await work(visitor.still_welcome):
            raise SignInRefused("signed out")
        if request.single:
            parse_one(request.sql)
        results = session.stream(request.sql, request.parameters)
        while (result := await work(_next, results)) is not None:
            try:
                await self.teller.tell(result, visitor.still_welcome)
            finally:
                if isinstance(result, Stream):
                    result.flow.close()


def _next(results: Any) -> Result | Stream | None:
    found: Result | Stream | None = next(results, None)
    return found


class SqlConsumer(_SqlSocket):
    """`/api/experimental/sql`: a first message that says who is there, then requests."""

    async def connect(self) -> None:
        """Accept and wait for the first message."""
        self.teller = Typed(self.send)
        self._received: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        await self.accept()
        await super().connect()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take a message in; too large ones and too many end the connection."""
        text = (
            text_data if text_data is not None else (bytes_data or b"").decode("utf-8", "replace")
        )
        if len(text) > settings.HEADRACE_BODY_LIMIT:
            await self.close(code=TOO_LARGE)
            return
        try:
            self._received.put_nowait(text)
        except asyncio.QueueFull:
            await self.close(code=POLICY)

    async def _answer(self) -> None:
        visitor = await self._welcome()
        while True:
            await self._ready()
            text = await self._received.get()
            sql = None
            try:
                for request in frames.requests_of(frames.object_of(text)):
                    sql = request.sql
                    await self._run(visitor, request)
            except SignInRefused:
                raise
            except HeadraceError as error:
                await self.teller.error(error, sql)

    async def _welcome(self) -> door.Visitor:
        try:
            text = await asyncio.wait_for(self._received.get(), PATIENCE)
        except TimeoutError:
            raise BadFrame("the first message must say who is there") from None
        first = frames.object_of(text)
        options = frames.options_of(first)
        visitor = await work(door.by_frame, first, self.scope)
        region = frames.region_of(first) or in_query(self.scope["query_string"])
        self._session = session = await work(execute.open_session, visitor.user, region)
        for name, value in options.items():
            await work(list, session.execute(render(SetVariable(name, value))))
        for name in frames.REPORTED:
            status = {"name": name, "value": session.variable(name)}
            await self.send(frame("ParameterStatus", status))
        keys = {"conn_id": secrets.randbits(31), "secret_key": secrets.randbits(31)}
        await self.send(frame("BackendKeyData", keys))
        return visitor

    async def _ready(self) -> None:
        status = "I" if self._session is None else self._session.transaction_status
        await self.send(frame("ReadyForQuery", status))


class QueryConsumer(_SqlSocket):
    """`/query?query=`: the results of one text, then the end."""

    async def connect(self) -> None:
        """Let in who says who they are, by header or as signed in to the page."""
        self.teller = Whole(self.send)
        try:
            self._visitor = await work(self._who)
        except HeadraceError:
            await self.close()
            return
        await self.accept()
        await super().connect()

    def _who(self) -> door.Visitor:
        found = door.by_header(self.scope) or door.by_session(self.scope)
        if found is None:
            raise SignInRefused("nobody is signed in")
        return found

    async def _answer(self) -> None:
        sql = parse_qs(self.scope["query_string"].decode()).get("query", [""])[0]
        try:
            region = in_query(self.scope["query_string"])
            self._session = await work(execute.open_session, self._visitor.user, region)
            await self._run(self._visitor, Request(sql))
        except SignInRefused:
            raise
        except HeadraceError as error:
            await self.teller.error(error, sql)
        await self.close(code=1000)
