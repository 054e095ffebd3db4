"""One upstream snapshot, held open for as long as tables are copied under it."""

from __future__ import annotations

import secrets
from types import TracebackType
from typing import Any

import psycopg
from psycopg import pq, sql

from ingest.contract.upstream import PostgresTarget
from ingest.errors import Transient
from ingest.feeds.postgres import faults
from ingest.feeds.postgres.connect import connect
from ingest.feeds.postgres.stream import lsn_number, refused


class Holder:
    """A context manager. `position` is exact: the snapshot has every commit that ends at or
    before it, and none after; a temporary slot gives both, and is gone at once.

    Entering waits for the transactions that run upstream; it raises Transient or Terminal.
    """

    def __init__(self, target: PostgresTarget) -> None:
        self._target = target
        self._session: psycopg.Connection[tuple[Any, ...]] | None = None
        self.position = 0
        self.snapshot = ""

    def __enter__(self) -> Holder:
        maker = connect(self._target, replication=True, statement_seconds=0)
        try:
            self.position, exported = _make(maker)
            self._session = connect(self._target, statement_seconds=0)
            self.snapshot = self._adopt(self._session, exported)
        except psycopg.Error as error:
            raise faults.running(error) from None
        finally:
            maker.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            self._session.close()

    def beat(self) -> None:
        """Make sure that the snapshot is still held; raises Transient when it is not."""
        try:
            if self._session is not None:
                self._session.execute("select 1")
        except psycopg.Error:
            raise Transient("the session that holds the upstream's snapshot was lost") from None

    def _adopt(self, session: psycopg.Connection[tuple[Any, ...]], exported: str) -> str:
        """Take the snapshot over from the slot's session, which could not be asked anything."""
        session.execute("begin isolation level repeatable read read only")
        query = sql.SQL("set transaction snapshot {}").format(sql.Literal(exported))
        session.execute(query)
        row = session.execute("select pg_export_snapshot()").fetchone()
        return str(row[0]) if row else ""


def _make(maker: psycopg.Connection[tuple[Any, ...]]) -> tuple[int, str]:
    name = f"headrace_snapshot_{secrets.token_hex(6)}"
    query = sql.SQL("CREATE_REPLICATION_SLOT {} TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT")
    result = maker.pgconn.exec_(query.format(sql.Identifier(name)).as_string(maker).encode())
    if result.status != pq.ExecStatus.TUPLES_OK:
        raise refused(result)
    position, exported = (result.get_value(0, column) or b"" for column in (1, 2))
    return lsn_number(position.decode()), exported.decode()
