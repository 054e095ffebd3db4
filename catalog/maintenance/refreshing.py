"""REFRESH: when a view that is not kept with every change is brought up to date."""

from __future__ import annotations

from collections.abc import Mapping


def keeps_up(options: Mapping[str, str]) -> bool:
    """Whether the view follows every change."""
    return not any(name.startswith("refresh") for name in options)


def due(options: Mapping[str, str], since: int, last: int, now: int) -> bool:
    """Whether a refresh lies after `last` and not after `now` (ms); `since` is the hydration."""
    return max(_every(options, since, now), _at(options, now)) > last


def _every(options: Mapping[str, str], since: int, now: int) -> int:
    every = int(options.get("refresh every", 0))
    if not every:
        return 0
    begin = int(options.get("refresh aligned to", since))
    return begin + (now - begin) // every * every


def _at(options: Mapping[str, str], now: int) -> int:
    times = [int(text) for text in options.get("refresh at", "").split(",") if text]
    return max((time for time in times if time <= now), default=0)
