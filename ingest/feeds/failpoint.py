"""Named points at which a process kills itself or another, so that crashes there can be tried on
purpose.

Unarmed, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Literal, get_args

Point = Literal[
    "slot made",
    "snapshot chunk",
    "last chunk",
    "request kept",
    "log written",
    "log committed",
    "confirmed",
    "applied",
    "rows written",
    "view created",
    "hydrate started",
    "apply committed",
    "undo committed",
    "view computing",
    "view hydrated",
    "view step written",
    "view folded",
]


@dataclass
class _Armed:
    name: str = ""
    left: int = 0
    victim: int = 0


_armed = _Armed()


def arm(name: str, n: int = 1, victim: int = 0) -> None:
    """Kill this process, or the one whose id is `victim`, with SIGKILL at the `n`-th hit of
    `name`; raises ValueError for a name that is no point. An empty name disarms."""
    if name and name not in get_args(Point):
        message = f"no fail point is named {name!r}"
        raise ValueError(message)
    _armed.name, _armed.left, _armed.victim = name, n, victim


def hit(name: Point) -> None:
    """Pass the point `name`."""
    if name != _armed.name:
        return
    _armed.left -= 1
    if _armed.left <= 0:
        _armed.name = ""
        os.kill(_armed.victim or os.getpid(), signal.SIGKILL)
