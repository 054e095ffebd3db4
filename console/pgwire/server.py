"""Accepting clients: sign-in, limits, cancel requests, an orderly end."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
import ssl
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from dataclasses import dataclass

from catalog.errors import StatementError
from console.execute import SignedIn, UserSession
from console.pgwire.authentication import ask_password, sign_in
from console.pgwire.conversation import Conversation
from console.pgwire.failures import error_response
from console.pgwire.greeting import open_for
from console.pgwire.messages import WatchedReader, key_data
from console.pgwire.session_thread import SessionThread
from console.pgwire.startup import CancelRequest, Wishes, negotiate
from ingest.errors import HeadraceError

log = logging.getLogger(__name__)

_TO_SIGN_IN = 30.0
_TO_STOP = 5.0
_WAITING_MORE = 50
_CUT = (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, TimeoutError)


@dataclass(frozen=True)
class Place:
    """Where to listen, how many clients to serve at once, and a certificate for TLS, if any."""

    host: str
    port: int
    most: int = 100
    certificate: ssl.SSLContext | None = None


@dataclass
class Client:
    """A signed-in client: what a cancel request needs."""

    key: bytes
    session: UserSession
    writer: StreamWriter


class Server:
    """Serves clients of one place; `start` returns when it listens."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._clients: dict[int, Client] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen; the port. Raises OSError when it is taken."""
        place = self._place
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, place.host, place.port)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Take no more clients, cancel what runs, say goodbye and close; a few seconds at most."""
        if self._server is not None:
            self._server.close()
        goodbye = StatementError(
            "terminating connection due to administrator command", sqlstate="57P01"
        )
        clients = list(self._clients.values())
        for client in clients:
            client.writer.write(error_response(goodbye, "FATAL"))
        cancels = [asyncio.to_thread(client.session.cancel) for client in clients]
        with suppress(TimeoutError):
            async with asyncio.timeout(_TO_STOP):
                await asyncio.gather(*cancels, return_exceptions=True)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_TO_STOP)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(WatchedReader(), self._accept)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            _keep_alive(writer)
            await self._serve(reader, writer)
        except HeadraceError as error:
            writer.write(error_response(error, "FATAL"))
        except _CUT:
            pass
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
        except Exception:
            log.exception("a connection failed")
            writer.write(error_response(HeadraceError("internal error"), "FATAL"))
        finally:
            with suppress(*_CUT, RuntimeError):
                writer.close()
                await asyncio.wait_for(writer.wait_closed(), 1)

    @property
    def _is_stopping(self) -> bool:
        return self._server is not None and not self._server.is_serving()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        thread: SessionThread | None = None
        try:
            async with asyncio.timeout(_TO_SIGN_IN):
                wishes = await negotiate(reader, writer, self._place.certificate)
                if isinstance(wishes, CancelRequest):
                    await self._cancel(wishes)
                    return
                self._check_room(len(self._tasks), self._place.most + _WAITING_MORE)
                address = str(writer.get_extra_info("peername")[0])
                password = await ask_password(reader, writer, wishes, address)
                thread = SessionThread("pgwire")
                user = await thread.start(sign_in, wishes, password, address)
            await self._welcome(reader, writer, thread, (user, wishes))
        finally:
            if thread is not None:
                thread.close()

    async def _welcome(
        self,
        reader: StreamReader,
        writer: StreamWriter,
        thread: SessionThread,
        who: tuple[SignedIn, Wishes],
    ) -> None:
        self._check_room(len(self._clients) + 1, self._place.most)
        session, told = await thread.start(open_for, *who)
        number, key = self._fresh_number(), secrets.token_bytes(4)
        writer.write(told + key_data(number, key))
        self._clients[number] = Client(key, session, writer)
        try:
            await Conversation(reader, writer, session, thread).hold()
        finally:
            del self._clients[number]

    def _check_room(self, count: int, most: int) -> None:
        if count > most:
            message = "sorry, too many clients already"
            raise StatementError(message, sqlstate="53300", hint="Close connections not in use.")

    def _fresh_number(self) -> int:
        while True:
            number = secrets.randbelow(2**31 - 1) + 1
            if number not in self._clients:
                return number

    async def _cancel(self, request: CancelRequest) -> None:
        client = self._clients.get(request.process)
        if client is not None and hmac.compare_digest(client.key, request.key):
            with suppress(HeadraceError):
                await asyncio.to_thread(client.session.cancel)


def _keep_alive(writer: StreamWriter) -> None:
    plain: socket.socket | None = writer.get_extra_info("socket")
    if plain is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
