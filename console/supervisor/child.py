"""One process that is started, watched, started again with growing pauses, and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from console.leash import leash
from console.supervisor.terminal import say

_LONGEST_PAUSE = 30.0
_STEADY = 60.0
_LOG_LIMIT = 20_000_000


@dataclass(frozen=True)
class Program:
    """How to run one process.

    `ready` says whether it does its work yet; `grace` is how many seconds it gets to stop by
    itself; one that runs `once` is not started again; `shows` lets it write to the terminal.
    """

    name: str
    command: Callable[[], list[str]]
    environment: dict[str, str]
    ready: Callable[[], bool] | None = None
    grace: float = 10.0
    once: bool = False
    shows: bool = False


@dataclass
class Child:
    """A program and the process that runs it now, if any."""

    program: Program
    logs: Path
    process: subprocess.Popen[bytes] | None = None
    pause: float = 1.0
    started: float = 0.0
    due: float | None = field(default=None)

    @property
    def name(self) -> str:
        """The program's name."""
        return self.program.name

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.logs / f"{self.name}.log"

    def start(self) -> None:
        """Start the process, in a group of its own."""
        self.due = None
        self.started = time.monotonic()
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".1.log"))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.program.command(),
                env=self.program.environment,
                stdin=subprocess.DEVNULL,
                stdout=None if self.program.shows else log,
                stderr=log,
                start_new_session=True,
                preexec_fn=leash(),
            )

    def tend(self) -> None:
        """Notice that the process ended; start it again when its pause is over."""
        if self.due is not None and time.monotonic() >= self.due:
            self.start()
        if self.process is None or self.process.poll() is None:
            return
        code, self.process = self.process.returncode, None
        if self.program.once:
            if code:
                say(f"{self.name} failed, see {self.log}")
            return
        if time.monotonic() - self.started > _STEADY:
            self.pause = 1.0
        self.due = time.monotonic() + self.pause
        say(f"{self.name} ended ({_how(code)}), again in {self.pause:.0f} s; see {self.log}")
        self.pause = min(self.pause * 2, _LONGEST_PAUSE)

    def ask_to_stop(self) -> None:
        """SIGTERM, to the process alone: it knows its own children best."""
        self.due = None
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.terminate()

    def make_stop(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds), then kill whatever is left of its group."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        self.kill()
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        """SIGKILL to its group, without waiting: a signal's handler may be in the middle of a
        wait, whose lock it would then wait for itself."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)


def _how(code: int) -> str:
    return f"exit {code}" if code >= 0 else signal.Signals(-code).name
