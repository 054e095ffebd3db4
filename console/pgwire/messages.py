"""Bytes to messages and back; nothing here knows what a message is about."""

from __future__ import annotations

import struct
from asyncio import StreamReader
from dataclasses import dataclass

from catalog.errors import StatementError

LONGEST = 64 * 1024 * 1024
"""Bytes that one message may have."""

_LENGTH = struct.Struct("!i")
_SHORT = struct.Struct("!h")


class ProtocolViolation(StatementError):
    """The client sent what the protocol does not allow here."""

    sqlstate = "08P01"


class WatchedReader(StreamReader):
    """Knows that the client has gone even while something it said is not read yet."""

    has_ended = False

    def feed_eof(self) -> None:
        """The client will say no more."""
        self.has_ended = True
        super().feed_eof()

    def set_exception(self, exc: Exception) -> None:
        """The connection is broken: what was sent was not read."""
        self.has_ended = True
        super().set_exception(exc)


@dataclass(frozen=True)
class Message:
    """One message of a client: its type's letter and its body."""

    kind: bytes
    body: bytes


async def read_message(reader: StreamReader, longest: int = LONGEST) -> Message:
    """The next message. Raises IncompleteReadError at the end, ProtocolViolation when too long."""
    head = await reader.readexactly(5)
    size = _LENGTH.unpack(head[1:])[0] - 4
    if not 0 <= size <= longest:
        message = f"invalid message length {size + 4}"
        raise ProtocolViolation(message)
    return Message(head[:1], await reader.readexactly(size))


def message(kind: bytes, body: bytes = b"") -> bytes:
    """One message of the server's."""
    return kind + _LENGTH.pack(len(body) + 4) + body


def text(value: str) -> bytes:
    """A string as messages carry it: UTF-8, ended by a zero byte."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


def short(value: int) -> bytes:
    """A 16-bit integer."""
    return _SHORT.pack(value)


def integer(value: int) -> bytes:
    """A 32-bit integer."""
    return _LENGTH.pack(value)


class Fields:
    """A message's body, read from its start; every method raises ProtocolViolation at the end."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def text(self) -> str:
        """A string ended by a zero byte."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise ProtocolViolation("invalid string in message")
        return _decoded(self.take(end - self._at + 1)[:-1])

    def short(self) -> int:
        """A 16-bit integer."""
        return int(_SHORT.unpack(self.take(2))[0])

    def integer(self) -> int:
        """A 32-bit integer."""
        return int(_LENGTH.unpack(self.take(4))[0])

    def shorts(self) -> tuple[int, ...]:
        """A counted list of 16-bit integers."""
        return tuple(self.short() for _ in range(self._count()))

    def integers(self) -> tuple[int, ...]:
        """A list of 32-bit integers with a 16-bit count."""
        return tuple(self.integer() for _ in range(self._count()))

    def values(self) -> tuple[bytes | None, ...]:
        """A counted list of values with their lengths; -1 is a null."""
        return tuple(self._value() for _ in range(self._count()))

    def take(self, size: int) -> bytes:
        """The next bytes as they are."""
        if size < 0 or self._at + size > len(self._body):
            raise ProtocolViolation("insufficient data left in message")
        self._at += size
        return self._body[self._at - size : self._at]

    def _count(self) -> int:
        return self.short() & 0xFFFF

    def _value(self) -> bytes | None:
        size = self.integer()
        return None if size == -1 else self.take(size)


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise StatementError(
            'invalid byte sequence for encoding "UTF8"', sqlstate="22021"
        ) from None


AUTHENTICATION_OK = message(b"R", integer(0))
ASK_FOR_PASSWORD = message(b"R", integer(3))
PARSE_COMPLETE = message(b"1")
BIND_COMPLETE = message(b"2")
CLOSE_COMPLETE = message(b"3")
NO_DATA = message(b"n")
EMPTY_QUERY = message(b"I")
PORTAL_SUSPENDED = message(b"s")


def ready(status: str) -> bytes:
    """ReadyForQuery with the transaction's status."""
    return message(b"Z", status.encode())


def parameter_status(name: str, value: str) -> bytes:
    """A variable of the session as it is now."""
    return message(b"S", text(name) + text(value))


def key_data(process: int, key: bytes) -> bytes:
    """What a cancel request must show."""
    return message(b"K", integer(process) + key)


def command_complete(tag: str) -> bytes:
    """A statement's command tag."""
    return message(b"C", text(tag))


def parameter_description(oids: tuple[int, ...]) -> bytes:
    """The types of a statement's parameters."""
    return message(b"t", short(len(oids)) + b"".join(map(integer, oids)))
