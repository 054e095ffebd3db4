"""Who subscribes now, in any process: each tells of its own, and what is not told again is gone.

It is kept in the cache that all processes share; a process that has none of its own forgets.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from django.core.cache import cache

LASTS = 10
"""Seconds that a process is believed without hearing of it."""
_PROCESSES = "subscriptions"


@dataclass(frozen=True)
class Subscribed:
    """One subscription. `as_of` and `told_through` are times (ms), `lag` is how long ago (ms)
    the newest of what was told became true.

    `readers` have its changes computed together, `computed` times so far; `own_reads` is how often
    it had to ask for itself.
    """

    id: str
    role: str
    title: str
    items: tuple[str, ...]
    started_at: dt.datetime
    as_of: int
    told_through: int
    lag: int
    rows: int
    readers: int
    computed: int
    own_reads: int


def tell(region: str, process: str, found: Sequence[Subscribed]) -> None:
    """Say what this process has; said again within `LASTS` seconds it stays known."""
    known = set(cache.get(_index(region)) or ())
    if process not in known:
        cache.set(_index(region), sorted({*known, process}), None)
    cache.set(_key(region, process), [astuple(one) for one in found], LASTS)


def subscribed(region: str) -> list[Subscribed]:
    """All that is known, the oldest first."""
    processes = cache.get(_index(region)) or ()
    keys = [_key(region, process) for process in processes]
    found: dict[str, list[tuple[Any, ...]]] = cache.get_many(keys)
    gone = [process for process in processes if _key(region, process) not in found]
    if gone:
        cache.set(_index(region), sorted(set(processes) - set(gone)), None)
    rows = [Subscribed(*row) for several in found.values() for row in several]
    return sorted(rows, key=lambda one: one.started_at)


def _index(region: str) -> str:
    return f"{_PROCESSES}:{region}"


def _key(region: str, process: str) -> str:
    return f"{_PROCESSES}:{region}:{process}"
