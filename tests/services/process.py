"""Starting and stopping the processes that tests lean on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from console.leash import leash


def free_port() -> int:
    """A port on the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, with its output in `log`.

    On Linux it ends with the thread that started it, so that a killed test run leaves nothing.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=leash(),
        )


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait at most 90 seconds; raises RuntimeError with the end of the log."""
    deadline = time.monotonic() + 90
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
        return True
    return False


def stop(process: subprocess.Popen[bytes], grace: float = 20, how: int = signal.SIGTERM) -> None:
    """Ask the process to end, then kill its whole group."""
    if process.poll() is None:
        process.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
