"""Ties a child's life to ours, so that even kill -9 of the supervisor leaves nothing behind."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def leash(number: int = signal.SIGTERM) -> Callable[[], None] | None:
    """What a child runs before it becomes its program: on Linux, "signal me when you die".

    Everything is looked up here, before the fork; None where the system has no such thing.
    """
    if sys.platform != "linux":
        return None
    control = ctypes.CDLL(None, use_errno=True).prctl

    def tie() -> None:
        control(_PR_SET_PDEATHSIG, number)

    return tie
