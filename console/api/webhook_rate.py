"""How often one webhook may be called in this process."""

from __future__ import annotations

import time
from collections.abc import Callable

_MANY = 10_000


class Rates:
    """A bucket per webhook that fills with `rate` calls a second and holds one second's."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, key: str) -> bool:
        """Take one call; False when there is none left."""
        now = self._clock()
        left, before = self._buckets.get(key, (self._rate, now))
        left = min(self._rate, left + (now - before) * self._rate)
        if len(self._buckets) > _MANY:
            self._buckets.clear()
        self._buckets[key] = (left - 1 if left >= 1 else left, now)
        return left >= 1
