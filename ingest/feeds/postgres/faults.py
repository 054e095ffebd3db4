"""What goes wrong with an upstream PostgreSQL, told with its cause and its remedy."""

from __future__ import annotations

import re
import socket
from typing import NamedTuple

import psycopg

from ingest.contract.upstream import PostgresTarget
from ingest.errors import IngestError, Terminal, Transient


class _Refusal(NamedTuple):
    pattern: re.Pattern[str]
    kind: type[IngestError]
    sqlstate: str
    message: str
    hint: str


def _refusal(
    pattern: str, kind: type[IngestError], state: str, message: str, hint: str
) -> _Refusal:
    return _Refusal(re.compile(pattern, re.IGNORECASE), kind, state, message, hint)


_REFUSALS = (
    _refusal(
        r"password authentication failed|no password supplied",
        Terminal,
        "28P01",
        'password authentication failed for user "{user}"',
        "Check the user name and the secret that holds the password.",
    ),
    _refusal(
        r'database ".*" does not exist',
        Terminal,
        "3D000",
        'database "{database}" does not exist',
        "Check the DATABASE option of the connection.",
    ),
    _refusal(
        r'role ".*" does not exist|is not permitted to log in',
        Terminal,
        "28000",
        'user "{user}" cannot log in',
        "Create the role upstream, or grant it LOGIN.",
    ),
    _refusal(
        r"pg_hba\.conf|no encryption",
        Terminal,
        "28000",
        'the server does not accept user "{user}" from this address',
        "Allow this host in the upstream's pg_hba.conf; if it asks for TLS, set SSL MODE require.",
    ),
    _refusal(
        r"must be superuser or replication role|permission denied to start WAL sender",
        Terminal,
        "42501",
        'user "{user}" may not replicate',
        "Grant the role REPLICATION upstream.",
    ),
    _refusal(
        r"does not support SSL|SSL error|certificate|sslmode",
        Terminal,
        "08001",
        "TLS with {host}:{port} failed",
        "Check SSL MODE and the certificates of the connection.",
    ),
    _refusal(
        r"too many (clients|connections)|remaining connection slots",
        Transient,
        "53300",
        "{host}:{port} has no connection left",
        "Free a connection upstream, or raise max_connections.",
    ),
    _refusal(
        r"starting up|shutting down|recovery",
        Transient,
        "57P03",
        "{host}:{port} does not accept connections yet",
        "Nothing to do: it is tried again.",
    ),
)


def reaching(target: PostgresTarget, error: OSError) -> IngestError:
    """The failure to resolve the host or to open its port."""
    if isinstance(error, socket.gaierror):
        return Terminal(
            f'could not resolve host "{target.host}"',
            hint="Check the HOST option of the connection, and the name server of this machine.",
            sqlstate="08001",
        )
    where = f"{target.host}:{target.port}"
    if isinstance(error, ConnectionRefusedError):
        return Transient(
            f"connection to {where} refused",
            detail="The host answers, but nothing listens on the port.",
            hint="Check HOST and PORT, and that PostgreSQL is up and listens on that address.",
            sqlstate="08001",
        )
    return Transient(
        f"could not reach {where}",
        detail=error.strerror or type(error).__name__,
        hint="Check HOST and PORT, and that no firewall stands between.",
        sqlstate="08001",
    )


def connecting(target: PostgresTarget, error: psycopg.Error) -> IngestError:
    """The failure to open a session on a port that answers."""
    text = str(error)
    for refusal in _REFUSALS:
        if refusal.pattern.search(text):
            message = refusal.message.format(
                user=target.user, database=target.database, host=target.host, port=target.port
            )
            return refusal.kind(message, hint=refusal.hint, sqlstate=refusal.sqlstate)
    return Transient(
        f"could not open a session on {target.host}:{target.port}",
        detail=_server_line(text, target),
        hint="Check that the port is PostgreSQL's.",
        sqlstate="08006",
    )


def running(error: psycopg.Error) -> IngestError:
    """The failure of a statement on an open session: a cut one may come back, others may not."""
    state = error.sqlstate or "08006"
    text = error.diag.message_primary or "the connection to the upstream was lost"
    if state == "42501":
        return Terminal(text, hint="Grant the privilege upstream.", sqlstate=state)
    kind = Transient if state[:2] in {"08", "53", "57", "40", "55"} else Terminal
    return kind(
        text, detail=error.diag.message_detail, hint=error.diag.message_hint, sqlstate=state
    )


def _server_line(text: str, target: PostgresTarget) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[-1].rpartition("failed: ")[2] if lines else ""
    return line.replace(str(target.password), "***") if target.password else line
