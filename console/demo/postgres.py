"""The demo's PostgreSQL server: made once, then run for as long as this process lives."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from console.demo import HOST
from console.demo.place import Place
from console.leash import leash

ADMIN = "postgres"
_SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_wal_senders": "20",
    "max_replication_slots": "20",
    "max_slot_wal_keep_size": "2GB",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "logging_collector": "off",
}
_PATIENCE = 60.0


@contextmanager
def running(place: Place, port: int, password: str, log: Path) -> Iterator[str]:
    """Yield the superuser's connection string; raises RuntimeError when it does not start."""
    data = place.root / "data"
    if not (data / "PG_VERSION").exists():
        _initialise(place, data, password)
    (data / "postmaster.pid").unlink(missing_ok=True)
    options = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    command = [str(place.programs / "postgres"), "-D", str(data), "-p", str(port), *options]
    dsn = make_conninfo(host=HOST, port=port, user=ADMIN, password=password, dbname="postgres")
    with log.open("ab") as output:
        server = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=place.root,
            preexec_fn=leash(signal.SIGINT),
            user=place.user,
            group=place.group,
            extra_groups=place.extra_groups,
        )
    try:
        _await(server, dsn, log)
        yield dsn
    finally:
        server.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            server.wait(8)
        server.kill()


def _initialise(place: Place, data: Path, password: str) -> None:
    """initdb; the superuser's password goes in by a file that is gone afterwards."""
    secret = place.root / "password"
    secret.touch(mode=0o600)
    if place.user is not None:
        shutil.chown(secret, place.user)
    secret.write_text(password)
    command = [str(place.programs / "initdb"), "-D", str(data), "-U", ADMIN, "-E", "UTF8"]
    command += ["--locale=C", "-A", "scram-sha-256", f"--pwfile={secret}"]
    try:
        made = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=place.root,
            user=place.user,
            group=place.group,
            extra_groups=place.extra_groups,
        )
    finally:
        secret.unlink()
    if made.returncode:
        raise RuntimeError(made.stderr.strip())


def _await(server: subprocess.Popen[bytes], dsn: str, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    message = f"the demo's PostgreSQL does not start, see {log}"
    raise RuntimeError(message)
