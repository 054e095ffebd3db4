"""Counters go on while Redis is away, and come back to it."""

from __future__ import annotations

from console.cache import LastingCache
from tests.services.process import free_port


def test_without_a_server_this_process_counts_alone() -> None:
    cache = LastingCache(f"redis://127.0.0.1:{free_port()}/0", {})
    assert cache.get("calls") is None
    assert cache.add("calls", 1, 60)
    assert not cache.add("calls", 1, 60)
    assert cache.incr("calls") == 2
    assert cache.get_many(["calls", "others"]) == {"calls": 2}
    cache.set("calls", [1.5], 60)
    assert cache.get("calls") == [1.5]
    assert cache.delete("calls")


def test_with_a_server_all_processes_share(redis_url: str) -> None:
    one, other = (LastingCache(redis_url, {}) for _ in range(2))
    one.set("calls", 3, 60)
    assert other.incr("calls") == 4
    assert one.get("calls") == 4
