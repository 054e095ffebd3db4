"""The replication stream: libpq's COPY BOTH, keepalives and acknowledgements."""

from __future__ import annotations

import select
import time
from struct import Struct
from typing import NamedTuple

import psycopg
from psycopg import pq, sql

from ingest.contract.upstream import PostgresTarget
from ingest.errors import IngestError, Terminal, Transient
from ingest.feeds.postgres import faults
from ingest.feeds.postgres.connect import connect

_DATA = Struct(">QQq").unpack_from
_KEEPALIVE = Struct(">QqB").unpack_from
_STATUS = Struct(">cQQQqB")
_EPOCH_2000 = 946_684_800
_STATUS_SECONDS = 5.0
_SILENCE_SECONDS = 60.0
_XLOG_DATA, _PRIMARY_KEEPALIVE = b"wk"


def lsn_text(position: int) -> str:
    """A position as PostgreSQL prints it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def lsn_number(text: str) -> int:
    """A position from PostgreSQL's print of it."""
    high, low = text.split("/")
    return (int(high, 16) << 32) | int(low, 16)


class Identity(NamedTuple):
    """Which server this is: changes when it is restored or a standby is promoted."""

    system: str
    timeline: str


class Stream:
    """One open replication stream, used from one thread.

    `sent` is the position up to which upstream has sent every commit; `newest` the newest WAL
    position heard of; `confirmed` the position acknowledged; `bytes` what was read.
    """

    def __init__(self, target: PostgresTarget) -> None:
        self._connection = connect(target, replication=True, statement_seconds=0)
        self._pg = self._connection.pgconn
        self.sent = 0
        self.newest = 0
        self.bytes = 0
        self.confirmed = 0
        self._last_status = self._last_heard = time.monotonic()

    def identify(self) -> Identity:
        """The server's identity; call it before `start`."""
        result = self._execute(sql.SQL("IDENTIFY_SYSTEM"))
        return Identity(_value(result, 0), _value(result, 1))

    def start(self, slot: str, publication: str, position: int) -> None:
        """Begin to stream commits that end after `position`, which is taken as confirmed."""
        query = sql.SQL(
            "START_REPLICATION SLOT {} LOGICAL {} (proto_version '1', publication_names {})"
        ).format(
            sql.Identifier(slot),
            sql.SQL(lsn_text(position)),
            sql.Literal(sql.Identifier(publication).as_string(None)),
        )
        result = self._pg.exec_(query.as_string(self._connection).encode())
        if result.status != pq.ExecStatus.COPY_BOTH:
            raise refused(result)
        self.sent = self.confirmed = position

    def read(self, seconds: float, most: int) -> list[bytes]:
        """Messages that are there, at most about `most`; waits up to `seconds` for the first.

        Raises Transient when the stream breaks or stays silent too long.
        """
        messages: list[bytes] = []
        deadline = time.monotonic() + seconds
        try:
            while len(messages) < most:
                size, data = self._pg.get_copy_data(1)
                if size > 0:
                    self._take(bytes(data), messages)
                elif size < 0:
                    raise self._ended()
                elif messages or not self._wait(deadline):
                    break
        except psycopg.OperationalError as error:
            raise faults.running(error) from None
        self._keep_alive()
        return messages

    def confirm(self, position: int) -> None:
        """Acknowledge everything up to `position`: upstream may forget it."""
        self.confirmed = max(self.confirmed, position)
        self.ask(reply=False)

    def ask(self, *, reply: bool = True) -> None:
        """Send a status message; with `reply`, upstream answers with its position at once."""
        now = int((time.time() - _EPOCH_2000) * 1e6)
        seen = max(self.sent, self.confirmed)
        message = _STATUS.pack(b"r", seen, self.confirmed, self.confirmed, now, reply)
        try:
            self._pg.put_copy_data(message)
            self._pg.flush()
        except psycopg.OperationalError as error:
            raise faults.running(error) from None
        self._last_status = time.monotonic()

    def close(self) -> None:
        """End the stream."""
        self._connection.close()

    def _take(self, data: bytes, messages: list[bytes]) -> None:
        self._last_heard = time.monotonic()
        if data[0] == _XLOG_DATA:
            _, end, _ = _DATA(data, 1)
            self.newest = max(self.newest, end)
            self.bytes += len(data)
            messages.append(data[25:])
        elif data[0] == _PRIMARY_KEEPALIVE:
            end, _, reply = _KEEPALIVE(data, 1)
            self.newest = max(self.newest, end)
            self.sent = max(self.sent, end)
            if reply:
                self.ask(reply=False)

    def _wait(self, deadline: float) -> bool:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._pg.socket], [], [], left)[0]:
            return False
        self._pg.consume_input()
        return True

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if now - self._last_heard > _SILENCE_SECONDS:
            raise Transient("the upstream has gone silent", hint="It is connected to again.")
        if now - self._last_status > _STATUS_SECONDS:
            self.ask()

    def _ended(self) -> IngestError:
        result = self._pg.get_result()
        if result is None:
            return Transient("the upstream ended the replication stream")
        return refused(result)

    def _execute(self, query: sql.SQL) -> pq.abc.PGresult:
        result = self._pg.exec_(query.as_string(self._connection).encode())
        if result.status != pq.ExecStatus.TUPLES_OK:
            raise refused(result)
        return result


def refused(result: pq.abc.PGresult) -> IngestError:
    """What a failed replication command means: a slot in use or a lost server passes."""
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"08006").decode()
    primary = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY)
    text = (primary or b"the replication stream broke").decode("utf-8", "replace")
    passing = state[:2] in {"08", "53", "57"} or state == "55006"
    return (Transient if passing else Terminal)(text, sqlstate=state)


def _value(result: pq.abc.PGresult, column: int) -> str:
    return (result.get_value(0, column) or b"").decode()
