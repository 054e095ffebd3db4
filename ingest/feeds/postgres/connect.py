"""Connections to an upstream PostgreSQL, from a `PostgresTarget` and nothing else.

Sessions are pinned to one text form (UTC, ISO dates, hex bytes), because what the log keeps is
upstream text. No error raised here carries the connection string or the password.
"""

from __future__ import annotations

import os
import socket
from typing import Any

import psycopg

from ingest.contract.upstream import PostgresTarget
from ingest.errors import Terminal
from ingest.feeds.copying.tls import tls_files
from ingest.feeds.postgres import faults

SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "search_path": "pg_catalog",
    "idle_in_transaction_session_timeout": "0",
}
CONNECT_SECONDS = 10
_NO_FILE = f"{os.devnull}/none"


def parameters(target: PostgresTarget, statement_seconds: int = 60) -> dict[str, str]:
    """libpq's parameters for `target`, all but the TLS files.

    Raises Terminal for a host that libpq would read as something else than one network host.
    """
    if not target.host or target.host.startswith(("/", "@")) or "," in target.host:
        message = f'"{target.host}" is not a host name or an address'
        raise Terminal(
            message,
            hint="Give one host name or IP address.",
            sqlstate="22023",
        )
    settings = SETTINGS | {"statement_timeout": str(statement_seconds * 1000)}
    fields = {
        "host": target.host,
        "port": str(target.port),
        "dbname": target.database,
        "user": target.user,
        "sslmode": target.ssl_mode,
        "passfile": _NO_FILE,
        "gssencmode": "disable",
        "application_name": "headrace",
        "client_encoding": "UTF8",
        "connect_timeout": str(CONNECT_SECONDS),
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
    }
    if target.address:
        fields["hostaddr"] = target.address
    if target.password is not None:
        fields["password"] = str(target.password)
    return fields


def tls_texts(target: PostgresTarget) -> dict[str, str]:
    """The PEM texts of `target` by the libpq parameter that names their file."""
    texts = {
        "sslrootcert": target.ssl_root_certificate,
        "sslcert": target.ssl_certificate,
        "sslkey": target.ssl_key,
    }
    return {name: str(text) for name, text in texts.items() if text}


def connect(
    target: PostgresTarget, *, replication: bool = False, statement_seconds: int = 60
) -> psycopg.Connection[tuple[Any, ...]]:
    """Open a session in autocommit; the caller closes it.

    `replication` opens a walsender. Raises Transient when waiting may help (refused, starting up,
    too many connections), Terminal when only a person can (password, database, TLS, host name).
    """
    fields = parameters(target, statement_seconds)
    if replication:
        fields["replication"] = "database"
    reach(target)
    with tls_files(tls_texts(target)) as files:
        try:
            return psycopg.connect("", **fields, **files, autocommit=True)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise faults.connecting(target, error) from None


def reach(target: PostgresTarget) -> None:
    """Resolve the host and open its port, so that the failure is told apart without reading text.

    Raises Terminal for an unknown host name, Transient when nothing answers.
    """
    try:
        with socket.create_connection(
            (target.address or target.host, target.port), timeout=CONNECT_SECONDS
        ):
            pass
    except OSError as error:
        raise faults.reaching(target, error) from None
