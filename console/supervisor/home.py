"""One supervisor per home."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.errors import HeadraceError


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Hold the home for as long as this process lives; raises HeadraceError if another does."""
    run = home / "run"
    run.mkdir(parents=True, exist_ok=True)
    with (run / "up.pid").open("a+") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mark.seek(0)
            message = f"Headrace already runs on {home} (process {mark.read().strip()})"
            hint = "Stop it, or set HEADRACE_HOME to another directory."
            raise HeadraceError(message, hint=hint) from None
        mark.truncate(0)
        mark.write(str(os.getpid()))
        mark.flush()
        try:
            yield
        finally:
            forget(home)
            mark.truncate(0)


def announce(home: Path, facts: dict[str, str]) -> None:
    """Write down where the services are, for commands that want to join them."""
    path = home / "run" / "services.json"
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(facts))
    draft.replace(path)


def forget(home: Path) -> None:
    """Nothing runs here any more."""
    (home / "run" / "services.json").unlink(missing_ok=True)


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def require_free(host: str, port: int, variable: str) -> None:
    """Raises HeadraceError when somebody listens on the port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            message = f"cannot listen on {host}:{port}: {(error.strerror or 'in use').lower()}"
            raise HeadraceError(message, hint=f"Choose another: make run {variable}=...") from None
