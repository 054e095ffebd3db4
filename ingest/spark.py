"""Spark Connect sessions: one per process and purpose, replaced when the server was restarted,
every few minutes, and when many local rows were sent: a server keeps the larger ones until their
session ends.

`run` is the way to use one: it gives the work a live session, repeats work that may be repeated
when the server lost the session, and turns Spark's failures into the project's.
"""

from __future__ import annotations

import atexit
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import grpc
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy

from ingest.contract.plane import Plane
from ingest.errors import HeadraceError, IngestError, Terminal, Transient

Purpose = Literal["read", "write", "log", "snapshot", "maintenance", "views"]
T = TypeVar("T")

FAILURES = (PySparkException, grpc.RpcError)
"""What Spark's own failures are."""

_SETTINGS = {
    "spark.databricks.delta.skipRecordingEmptyCommits": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.databricks.delta.properties.defaults.checkpointInterval": "100",
}
_OF_PURPOSE: dict[Purpose, dict[str, str]] = {
    "log": {"spark.databricks.delta.writeChecksumFile.enabled": "false"},
    "views": {
        "spark.databricks.delta.writeChecksumFile.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    },
}
"""Logs and views: Delta's own summary of each version would be a second file per commit, and is
not needed here. Views: eight partitions for the large, which the optimizer joins to one for the
small; change files as they can be read without Spark."""

_LOST = re.compile(
    r"SESSION_(NOT_FOUND|CLOSED|CHANGED)|NO_ACTIVE_SESSION|INVALID_HANDLE\.(SESSION|OPERATION|FORMAT)|UNAVAILABLE|"
    r"failed to connect|Connection refused|Socket closed|Connection reset|"
    r"stopped SparkContext|SparkContext was shut down|incorrect server side session|Stream removed"
)
_LOST_CONDITIONS = ("INVALID_HANDLE", "SESSION", "NO_ACTIVE", "RESPONSE_ALREADY_RECEIVED")
"""How conditions begin that may be of a lost server; the last is that of one that ended while it
sent its answer."""
_CONDITIONS: tuple[tuple[str, str, str], ...] = (
    ("DIVIDE_BY_ZERO", "22012", "division by zero"),
    ("REMAINDER_BY_ZERO", "22012", "division by zero"),
    ("INTERVAL_DIVIDED_BY_ZERO", "22012", "division by zero"),
    ("CAST_INVALID_INPUT", "22P02", "invalid input syntax"),
    ("CAST_OVERFLOW", "22003", "value out of range"),
    ("NUMERIC_VALUE_OUT_OF_RANGE", "22003", "numeric field overflow"),
    ("ARITHMETIC_OVERFLOW", "22003", "value out of range"),
    ("BINARY_ARITHMETIC_OVERFLOW", "22003", "value out of range"),
    ("INVALID_ARRAY_INDEX", "2202E", "array subscript out of range"),
    ("CANNOT_PARSE_TIMESTAMP", "22007", "invalid datetime format"),
    ("DATETIME_OVERFLOW", "22008", "datetime field overflow"),
    ("SCALAR_SUBQUERY_TOO_MANY_ROWS", "21000", "more than one row returned by a subquery"),
    ("UNRESOLVED_ROUTINE", "42883", 'function "{}" does not exist'),
    ("UNRESOLVED_COLUMN", "42703", 'column "{}" does not exist'),
    ("TABLE_OR_VIEW_NOT_FOUND", "42P01", 'relation "{}" does not exist'),
    ("AMBIGUOUS_REFERENCE", "42702", "column reference is ambiguous"),
    ("DATATYPE_MISMATCH", "42804", "types do not match"),
    ("MISSING_AGGREGATION", "42803", "column must appear in the GROUP BY clause"),
    ("MISSING_GROUP_BY", "42803", "column must appear in the GROUP BY clause"),
    ("PARSE_SYNTAX_ERROR", "42601", "syntax error"),
    ("OPERATION_CANCELED", "57014", "canceling statement due to user request"),
)
LIFETIME = 300.0
"""Seconds after which a session is replaced, and ended by whoever is the last to use it."""


MOST_SENT = 64 * 2**20
"""Bytes of local rows after which a session is replaced too."""


@dataclass(eq=False)
class _Shared:
    """A session and how many use it now; `since` is when it was made (seconds, monotonic), `sent`
    how many bytes of local rows it was sent."""

    live: SparkSession
    since: float
    users: int = 0
    sent: int = 0

    @property
    def spent(self) -> bool:
        """Whether who comes next is to have another."""
        return time.monotonic() - self.since >= LIFETIME or self.sent > MOST_SENT


_sessions: dict[tuple[str, Purpose], list[_Shared]] = {}
"""The last of each is given out; those before it are still used by some."""
_lock = threading.Lock()


def session(plane: Plane, purpose: Purpose = "read") -> SparkSession:
    """This process's live session with the plane for a purpose; made on first use.

    Safe from any thread. Settings of one purpose never leak into another.
    Raises Transient when the server does not answer.
    """
    with _lock:
        return _current(plane, purpose).live


def interrupt(plane: Plane, tag: str, purpose: Purpose = "read") -> None:
    """Stop what runs under the tag in this process's sessions of a purpose."""
    with _lock:
        found = list(_sessions.get((plane.remote, purpose), ()))
    for shared in found:
        shared.live.interruptTag(tag)


def _current(plane: Plane, purpose: Purpose) -> _Shared:
    """The session that is given out now; with the lock held."""
    known = _sessions.setdefault((plane.remote, purpose), [])
    if not known or known[-1].spent:
        live = _connect(plane, _OF_PURPOSE.get(purpose, {}))
        known.append(_Shared(live, time.monotonic()))
    return known[-1]


def _unused(plane: Plane, purpose: Purpose) -> list[_Shared]:
    """Take out the replaced sessions that nobody uses any more; with the lock held."""
    known = _sessions.get((plane.remote, purpose), [])
    over = [shared for shared in known[:-1] if not shared.users]
    known[:] = [shared for shared in known if shared not in over]
    return over


@contextlib.contextmanager
def _used(plane: Plane, purpose: Purpose) -> Iterator[SparkSession]:
    """The session for the block's work, which lasts as long as that."""
    with _lock:
        shared = _current(plane, purpose)
        shared.users += 1
    try:
        yield shared.live
    finally:
        with _lock:
            shared.users -= 1
            over = _unused(plane, purpose)
        for each in over:
            _end(each.live)


def forget(plane: Plane, purpose: Purpose, lost: SparkSession) -> None:
    """Drop a session that the server no longer knows, so that the next call makes a new one."""
    with _lock:
        known = _sessions.get((plane.remote, purpose), [])
        known[:] = [shared for shared in known if shared.live is not lost]


def run(
    plane: Plane, work: Callable[[SparkSession], T], purpose: Purpose = "read", *, repeat: bool
) -> T:
    """Do `work` with a session; `repeat` says that doing it twice harms nothing.

    Raises Transient when the server is away, otherwise what `failure` makes of Spark's error.
    """
    for last in (not repeat, True):
        with _used(plane, purpose) as live:
            try:
                return work(live)
            except FAILURES as error:
                lost = is_lost(error)
                if lost:
                    forget(plane, purpose, live)
                if last or not lost:
                    raise failure(error) from error
    raise AssertionError


@contextlib.contextmanager
def alone(plane: Plane, purpose: Purpose) -> Iterator[SparkSession]:
    """A session for one long piece of work, so that nothing else is interrupted or followed with
    it; with the purpose's settings. Ends with the block, and turns failures as `run` does."""
    live = _connect(plane, _OF_PURPOSE.get(purpose, {}))
    try:
        yield live
    except FAILURES as error:
        raise failure(error) from error
    finally:
        _end(live)


def _end(live: SparkSession) -> None:
    with contextlib.suppress(Exception):
        live.client.release_session()
    with contextlib.suppress(Exception):
        live.client.close()


def apart(plane: Plane, work: Callable[[SparkSession], T], purpose: Purpose = "read") -> T:
    """Do `work` with a session that ends with it. A server keeps the local rows that it was sent
    for as long as the session lasts, so this is how many of them go there."""
    with alone(plane, purpose) as live:
        return work(live)


def local(live: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of this process, at least one, as the session's."""
    with _lock:
        every = [shared for known in _sessions.values() for shared in known]
        for shared in every:
            if shared.live is live:
                shared.sent += rows.nbytes
    return live.createDataFrame(rows.combine_chunks())


def is_lost(error: Exception) -> bool:
    """Whether the error says that the server or this session of it is gone."""
    condition = getattr(error, "getCondition", lambda: None)() or ""
    if condition and not condition.startswith(_LOST_CONDITIONS):
        return False
    return _LOST.search(str(error)) is not None


def failure(error: Exception) -> HeadraceError:
    """What to tell a user about Spark's error: a sentence and a SQLSTATE, never a stack trace."""
    if is_lost(error):
        return Transient(
            "the Spark server is not reachable",
            detail=_first_sentence(_details(str(error))),
            hint="The server restarts by itself; try again in a few seconds.",
            sqlstate="57P03",
        )
    text = _cause(str(error))
    condition = _condition(error, text)
    if "violates not-null constraint" in text:
        return IngestError(_first_sentence(text), sqlstate="23502")
    for name, sqlstate, message in _CONDITIONS:
        if name in condition:
            detail = _first_sentence(text)
            found = re.search(r"((?:`[^`]+`\.?)+)", detail)
            said = message.format(found[1].replace("`", "") if found else "?")
            return IngestError(said, detail=detail, sqlstate=sqlstate)
    if "DELTA_CONCURRENT" in text or "ConcurrentTransactionException" in text:
        return Transient("another job changed the table at the same time", sqlstate="40001")
    if "No space left on device" in str(error):
        return Terminal(
            "could not write to the warehouse: no space left on device",
            hint="Free some space; nothing that was acknowledged is lost.",
            sqlstate="53100",
        )
    state = getattr(error, "getSqlState", lambda: None)() or "XX000"
    return IngestError(_first_sentence(text), sqlstate=state)


@atexit.register
def close() -> None:
    """End this process's sessions. Called before a server is stopped, and at the process's end:
    a session that is collected later would wait for its channel's thread for ever."""
    with _lock:
        ending = [shared for known in _sessions.values() for shared in known]
        _sessions.clear()
    for shared in ending:
        with contextlib.suppress(Exception):
            shared.live.client.close()


def _connect(plane: Plane, settings: Mapping[str, str]) -> SparkSession:
    try:
        made: SparkSession = SparkSession.builder.remote(plane.remote).create()
        made.client.set_retry_policies([DefaultPolicy(max_retries=5, max_backoff=2000)])
        for name, value in _SETTINGS.items():
            made.conf.set(name, value)
        for name, value in settings.items():
            made.conf.set(name, value)
    except FAILURES as error:
        raise failure(error) from error
    return made


def _condition(error: Exception, text: str) -> str:
    found = getattr(error, "getCondition", lambda: None)()
    match = re.search(r"\[([A-Z_0-9.]+)\]", text)
    return str(found or "") + " " + (match[1] if match else "")


def _cause(text: str) -> str:
    """The root of a failed task's chain of causes, where there is one with a condition."""
    causes = re.findall(r"^Caused by: [\w.$]+: (\[[A-Z_0-9.]+\].*)$", text, re.MULTILINE)
    return causes[-1] if causes else text


def _details(text: str) -> str:
    """What a broken call says of itself, without its own representation around it."""
    found = re.search(r'details = "([^"]*)"', text)
    return found[1] if found else text


def _first_sentence(text: str) -> str:
    """The error's first line without Spark's own advice, class names and trace."""
    text = text.split("JVM stacktrace", 1)[0].split("\n\tat ", 1)[0]
    text = re.sub(r"^(?:\([\w.]+\)\s*)?\[[A-Z_0-9.]+\]\s*", "", text.strip())
    line = text.splitlines()[0] if text else "the query failed"
    line = line.split(" Use `try_", 1)[0].split(" If necessary set", 1)[0]
    return re.split(r"(?<=\w)\. SQLSTATE:| SQLSTATE:", line, maxsplit=1)[0].rstrip(". ")
