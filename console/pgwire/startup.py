"""The first packets: TLS, cancel requests, and who wants what."""

from __future__ import annotations

import asyncio
import re
import ssl
import struct
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass

from console.pgwire.messages import Fields, ProtocolViolation, integer, message, text

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_VERSION = 3
_LONGEST = 10_000
_PACKETS = 4


class UnsupportedProtocol(ProtocolViolation):
    """Another version of the protocol than 3."""

    sqlstate = "0A000"


@dataclass(frozen=True)
class CancelRequest:
    """Somebody wants the query of another connection stopped."""

    process: int
    key: bytes


@dataclass(frozen=True)
class Wishes:
    """What a client says about itself: its parameters, `user` among them."""

    parameters: dict[str, str]
    encrypted: bool

    @property
    def user(self) -> str:
        """The user's e-mail."""
        return self.parameters.get("user", "")

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Session variables to set: single ones, then those in `options`."""
        own = {"user", "database", "options", "replication", "region"}
        single = [
            (name, value)
            for name, value in self.parameters.items()
            if name not in own and not name.startswith("_pq_.")
        ]
        return (*single, *(one for one in self._options if one[0] != "region"))

    @property
    def region(self) -> str:
        """The region, as a parameter or in `options` (`--region=aws/us-east-1`); or empty."""
        return dict(self._options).get("region", "") or self.parameters.get("region", "")

    @property
    def _options(self) -> tuple[tuple[str, str], ...]:
        return options(self.parameters.get("options", ""))


def options(line: str) -> tuple[tuple[str, str], ...]:
    r"""`-c name=value`, `--name=value`, in order; a backslash keeps the character after it."""
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", line)]
    found: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        if word == "-c":
            setting = next(rest, "")
        elif word.startswith(("--", "-c")):
            setting = word[2:]
        else:
            setting = ""
        name, equals, value = setting.partition("=")
        if not equals or not name:
            message = f"invalid command-line argument for server process: {word}"
            raise ProtocolViolation(message, sqlstate="42601")
        found.append((name.replace("-", "_"), value))
    return tuple(found)


async def negotiate(
    reader: StreamReader, writer: StreamWriter, certificate: ssl.SSLContext | None
) -> Wishes | CancelRequest:
    """Talk until the client says who it is, or whom to cancel. Raises ProtocolViolation."""
    encrypted = False
    for _ in range(_PACKETS):
        code, body = await _packet(reader)
        if code == _CANCEL:
            return CancelRequest(Fields(body).integer(), body[4:])
        if code == _SSL and certificate is not None and not encrypted:
            await _encrypt(reader, writer, certificate)
            encrypted = True
        elif code in (_SSL, _GSS):
            writer.write(b"N")
        else:
            return _wishes(code, body, writer, encrypted=encrypted)
        await writer.drain()
    raise ProtocolViolation("too many requests before the start")


async def _packet(reader: StreamReader) -> tuple[int, bytes]:
    size, code = struct.unpack("!ii", await reader.readexactly(8))
    if not 8 <= size <= _LONGEST:
        raise ProtocolViolation("invalid length of startup packet")
    return code, await reader.readexactly(size - 8)


async def _encrypt(
    reader: StreamReader, writer: StreamWriter, certificate: ssl.SSLContext
) -> None:
    """Answer `S` and speak TLS; bytes sent ahead of it would be taken for encrypted ones."""
    try:
        async with asyncio.timeout(0):
            await reader.read(1)
    except TimeoutError:
        writer.write(b"S")
        await writer.drain()
        await writer.start_tls(certificate)
        return
    raise ProtocolViolation("received unencrypted data after SSL request")


def _wishes(code: int, body: bytes, writer: StreamWriter, *, encrypted: bool) -> Wishes:
    major, minor = code >> 16, code & 0xFFFF
    if major != _VERSION:
        told = f"unsupported frontend protocol {major}.{minor}: server supports 3.0"
        raise UnsupportedProtocol(told)
    fields = Fields(body)
    parameters: dict[str, str] = {}
    while name := fields.text():
        parameters[name] = fields.text()
    unknown = [name for name in parameters if name.startswith("_pq_.")]
    if minor or unknown:
        names = b"".join(map(text, unknown))
        writer.write(message(b"v", integer(_VERSION << 16) + integer(len(unknown)) + names))
    if parameters.get("replication", "off").lower() not in {"off", "false", "no", "0"}:
        raise UnsupportedProtocol("replication connections are not supported")
    return Wishes(parameters, encrypted)
