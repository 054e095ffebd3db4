"""What the person at the terminal sees: one line a step, alive while the step lasts."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_EVERY = 10.0
"""Seconds between signs of life where the line cannot be rewritten."""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show a step with its elapsed seconds until it is done, or has failed."""
    began = time.monotonic()
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(name, began, done), daemon=True)
    ticker.start()
    mark = "failed"
    try:
        yield
        mark = "ok"
    finally:
        done.set()
        ticker.join()
        start = "\r" if sys.stdout.isatty() else ""
        say(f"{start}  {name:<28} {mark}, {time.monotonic() - began:.1f} s")


def _tick(name: str, began: float, done: threading.Event) -> None:
    live = sys.stdout.isatty()
    while not done.wait(1.0 if live else _EVERY):
        line = f"  {name:<28} {time.monotonic() - began:.0f} s"
        sys.stdout.write(f"\r{line}" if live else f"{line}\n")
        sys.stdout.flush()
