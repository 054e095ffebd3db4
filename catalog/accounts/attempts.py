"""Failed sign-ins are counted; too many close the door for a while.

Three counters per window: an e-mail from one address, an address, an e-mail from anywhere. They
live in the cache that all processes share in production.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from django.core.cache import cache

from catalog.errors import TooManyAttempts

WINDOW = 300
"""Seconds that a failure counts for."""

_LIMITS = {"pair": 8, "address": 60, "email": 100}


def check(email: str, address: str) -> None:
    """Raise TooManyAttempts when sign-ins of that e-mail from that address must wait."""
    counts = cache.get_many([key for key, _ in _counters(email, address)])
    if any(counts.get(key, 0) >= limit for key, limit in _counters(email, address)):
        raise TooManyAttempts(
            "too many failed sign-ins",
            hint=f"Wait {WINDOW // 60} minutes and try again.",
        )


def failed(email: str, address: str) -> None:
    """Count one failure."""
    for key, _ in _counters(email, address):
        if not cache.add(key, 1, WINDOW):
            _increment(key)


def succeeded(email: str, address: str) -> None:
    """Forget the failures of that e-mail from that address."""
    cache.delete(_key("pair", f"{email}\n{address}"))


def _increment(key: str) -> None:
    try:
        cache.incr(key)
    except ValueError:
        cache.add(key, 1, WINDOW)


def _counters(email: str, address: str) -> Iterator[tuple[str, int]]:
    yield _key("pair", f"{email}\n{address}"), _LIMITS["pair"]
    yield _key("address", address), _LIMITS["address"]
    yield _key("email", email), _LIMITS["email"]


def _key(kind: str, value: str) -> str:
    return f"sign-in:{kind}:{hashlib.sha256(value.encode()).hexdigest()[:32]}"
