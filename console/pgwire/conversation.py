"""One client's statements: the simple and the extended query protocol over one session."""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from catalog.results import Done, Result, Rows, Stream
from console.execute import UserSession
from console.pgwire import deallocate, messages
from console.pgwire.descriptions import row_description, spread
from console.pgwire.failures import error_response, is_wanted, notice_response
from console.pgwire.messages import Fields, Message, ProtocolViolation, WatchedReader
from console.pgwire.prepared import Portal, Prepared, UnknownStatement
from console.pgwire.session_thread import SessionThread
from console.pgwire.streaming import Streaming
from console.pgwire.values import row_messages
from ingest.errors import HeadraceError

log = logging.getLogger(__name__)
T = TypeVar("T")

REPORTED = {
    "application_name": "application_name",
    "client_encoding": "client_encoding",
    "datestyle": "DateStyle",
    "integer_datetimes": "integer_datetimes",
    "intervalstyle": "IntervalStyle",
    "mz_version": "mz_version",
    "server_version": "server_version",
    "standard_conforming_strings": "standard_conforming_strings",
    "timezone": "TimeZone",
}
"""Session variables that clients are told of, with PostgreSQL's spelling of their names."""
_GONE = 0.5


class Conversation:
    """Answers a client's messages one after another until it leaves."""

    def __init__(
        self,
        reader: StreamReader,
        writer: StreamWriter,
        session: UserSession,
        thread: SessionThread,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._session = session
        self._thread = thread
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._skipping = False

    async def hold(self) -> None:
        """Read and answer until the client says goodbye. Raises ConnectionError kinds."""
        self._ready()
        try:
            await self._hold()
        finally:
            self._drop(*self._portals)
            self._session.close()

    async def _hold(self) -> None:
        while True:
            await self._writer.drain()
            received = await messages.read_message(self._reader)
            if received.kind == b"X":
                return
            if self._skipping and received.kind != b"S":
                continue
            await self._answer(received)

    async def _answer(self, received: Message) -> None:
        try:
            await _handler(received.kind)(self, Fields(received.body))
        except HeadraceError as error:
            self._session.fail()
            self._writer.write(error_response(error))
            self._after_error(received.kind)
        except (ConnectionError, asyncio.IncompleteReadError):
            raise
        except Exception:
            log.exception("a message could not be answered")
            self._session.fail()
            self._writer.write(error_response(HeadraceError("internal error")))
            self._after_error(received.kind)

    def _after_error(self, kind: bytes) -> None:
        if kind == b"Q":
            self._ready()
        else:
            self._skipping = True

    async def query(self, fields: Fields) -> None:
        """Query: every statement of a text, its results as they come."""
        sql = fields.text()
        self._drop("")
        self._prepared.pop("", None)
        results = self._results(sql)
        count = 0
        while (result := await self._run(next, results, None)) is not None:
            count += 1
            await self._tell(result)
        if not count:
            self._writer.write(messages.EMPTY_QUERY)
        self._ready()

    async def parse(self, fields: Fields) -> None:
        """Parse: keep a statement under a name."""
        name, sql, oids = fields.text(), fields.text(), fields.integers()
        if name and name in self._prepared:
            told = f'prepared statement "{name}" already exists'
            raise ProtocolViolation(told, sqlstate="42P05")
        self._prepared.pop(name, None)
        gone = deallocate.named(sql)
        self._prepared[name] = Prepared(sql) if gone is not None else Prepared.of(sql, oids)
        self._writer.write(messages.PARSE_COMPLETE)

    async def bind(self, fields: Fields) -> None:
        """Bind: give a prepared statement its parameters."""
        name = fields.text()
        prepared = self._statement(fields.text())
        self._drop(name)
        parameters = await self._run(prepared.bound, fields, self._session)
        self._portals[name] = Portal(prepared, parameters, fields.shorts())
        self._writer.write(messages.BIND_COMPLETE)

    async def describe(self, fields: Fields) -> None:
        """Describe: a prepared statement's parameters and columns, or a portal's columns.

        A portal that reads runs here, so that what is told is what comes.
        """
        kind, name = fields.take(1), fields.text()
        declared = self._session.cursor(name) if kind == b"P" else None
        if declared is not None:
            self._writer.write(row_description(declared, (0,) * len(declared.columns)))
            return
        if kind == b"P":
            await self._describe_portal(self._portal(name))
            return
        prepared = self._statement(name)
        description = await self._run(prepared.describe, self._session)
        oids = [type_.oid for type_ in description.parameters]
        given = [oid or found for oid, found in zip(prepared.oids, oids, strict=False)]
        all_oids = tuple(given + oids[len(given) :])
        self._writer.write(messages.parameter_description(all_oids))
        if description.relation is None:
            self._writer.write(messages.NO_DATA)
            return
        formats = (0,) * len(description.relation.columns)
        self._writer.write(row_description(description.relation, formats))

    async def _describe_portal(self, portal: Portal) -> None:
        result = None
        if portal.prepared.gives_rows:
            result = await self._run(portal.run, self._session)
        if isinstance(result, Rows | Stream):
            formats = spread(portal.formats, len(result.relation.columns))
            self._writer.write(row_description(result.relation, formats))
        else:
            self._writer.write(messages.NO_DATA)

    async def execute(self, fields: Fields) -> None:
        """Execute: run a portal, or go on with it; at most so many rows, 0 for all."""
        portal, most = self._portal(fields.text()), fields.integer()
        gone = deallocate.named(portal.prepared.sql)
        if gone is not None:
            self._writer.write(messages.command_complete(self._deallocate(gone)))
            return
        result = await self._run(portal.run, self._session)
        if result is None:
            self._writer.write(messages.EMPTY_QUERY)
        elif isinstance(result, Rows):
            await self._send_portal(portal, result, most)
        elif isinstance(result, Stream) and portal.streaming is not None:
            await self._send_stream(portal.streaming, portal.formats, most)
        else:
            await self._tell(result)

    async def _send_portal(self, portal: Portal, result: Rows, most: int) -> None:
        if not portal.sent:
            self._notices(result)
        rest = result.data.slice(portal.sent)
        part = rest.slice(0, most) if most > 0 else rest
        await self._send_rows(Rows(result.tag, result.relation, part), portal.formats)
        portal.sent += part.num_rows
        if 0 < most == part.num_rows:
            self._writer.write(messages.PORTAL_SUSPENDED)
            return
        tag = result.tag if part.num_rows == result.data.num_rows else f"SELECT {part.num_rows}"
        self._writer.write(messages.command_complete(tag))

    async def close(self, fields: Fields) -> None:
        """Close: forget a prepared statement or a portal; one that is not there is fine."""
        kind, name = fields.take(1), fields.text()
        if kind == b"S":
            self._prepared.pop(name, None)
        else:
            self._drop(name)
        self._writer.write(messages.CLOSE_COMPLETE)

    async def sync(self, fields: Fields) -> None:
        """Sync: the end of a batch, and of an error's reach."""
        self._skipping = False
        if self._session.transaction_status == "I":
            self._drop(*self._portals)
        self._ready()

    async def flush(self, fields: Fields) -> None:
        """Flush: everything is sent after each message anyway."""

    async def ignored(self, fields: Fields) -> None:
        """What is left of a COPY that failed."""

    def _drop(self, *names: str) -> None:
        """Forget portals; their streams end."""
        for name in names:
            portal = self._portals.pop(name, None)
            if portal is not None:
                portal.close()

    def _results(self, sql: str) -> Iterator[Result | Stream]:
        gone = deallocate.named(sql)
        if gone is None:
            return self._session.stream(sql)
        return iter((Done(self._deallocate(gone)),))

    def _deallocate(self, name: str) -> str:
        if not name:
            self._prepared.clear()
            return "DEALLOCATE ALL"
        if self._prepared.pop(name, None) is None:
            raise _unknown(name)
        return "DEALLOCATE"

    def _statement(self, name: str) -> Prepared:
        if name not in self._prepared:
            raise _unknown(name)
        return self._prepared[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            told = f'portal "{name}" does not exist'
            raise UnknownStatement(told, sqlstate="34000")
        return self._portals[name]

    async def _tell(self, result: Result | Stream) -> None:
        if isinstance(result, Stream):
            formats = (0,) * len(result.relation.columns)
            self._writer.write(row_description(result.relation, formats))
            await self._send_stream(Streaming(result), formats)
            return
        self._notices(result)
        if isinstance(result, Rows):
            formats = (0,) * len(result.relation.columns)
            self._writer.write(row_description(result.relation, formats))
            await self._send_rows(result, formats)
        else:
            for name, value in result.parameters:
                self._writer.write(messages.parameter_status(REPORTED.get(name, name), value))
        self._writer.write(messages.command_complete(result.tag))

    async def _send_rows(self, result: Rows, formats: tuple[int, ...]) -> None:
        wide = spread(formats, len(result.relation.columns))
        chunks = row_messages(result.relation, result.data, wide)
        while (chunk := await self._run(next, chunks, None)) is not None:
            self._writer.write(chunk)
            await self._writer.drain()

    async def _send_stream(
        self, streaming: Streaming, formats: tuple[int, ...], most: int = 0
    ) -> None:
        """Rows as they come: until there are `most`, or the end of the stream."""
        stream, sent = streaming.stream, 0
        if not streaming.begun:
            self._notices(stream)
        try:
            while True:
                part = await self._run(streaming.take, most - sent if most > 0 else 0)
                if part is None:
                    break
                await self._send_rows(Rows(stream.tag, stream.relation, part), formats)
                sent += part.num_rows
                if 0 < most == sent:
                    self._writer.write(messages.PORTAL_SUSPENDED)
                    return
        except BaseException:
            streaming.close()
            raise
        self._writer.write(messages.command_complete(f"{stream.tag} {streaming.sent}"))

    def _notices(self, result: Result | Stream) -> None:
        least = self._session.variable("client_min_messages")
        for notice in result.notices:
            if is_wanted(notice, least):
                self._writer.write(notice_response(notice))

    async def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Do something in the session's thread; a client that went away has it cancelled."""
        work = self._thread.start(function, *arguments)
        while not work.done():
            await asyncio.wait((work,), timeout=_GONE)
            if not work.done() and self._has_left():
                with suppress(HeadraceError):
                    await asyncio.to_thread(self._session.cancel)
        return work.result()

    def _has_left(self) -> bool:
        return isinstance(self._reader, WatchedReader) and self._reader.has_ended

    def _ready(self) -> None:
        self._writer.write(messages.ready(self._session.transaction_status))


def _handler(kind: bytes) -> Callable[[Conversation, Fields], Awaitable[None]]:
    if kind not in _HANDLERS:
        told = f"invalid frontend message type {kind.decode('latin-1')}"
        raise ProtocolViolation(told)
    return _HANDLERS[kind]


def _unknown(name: str) -> UnknownStatement:
    return UnknownStatement(f'prepared statement "{name}" does not exist')


_HANDLERS = {
    b"Q": Conversation.query,
    b"P": Conversation.parse,
    b"B": Conversation.bind,
    b"D": Conversation.describe,
    b"E": Conversation.execute,
    b"C": Conversation.close,
    b"S": Conversation.sync,
    b"H": Conversation.flush,
    b"d": Conversation.ignored,
    b"c": Conversation.ignored,
    b"f": Conversation.ignored,
}
