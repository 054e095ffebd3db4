"""What a load generator is: some tables, and their rows as a function of the tick."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ingest.contract.types import Type
from ingest.errors import Terminal

Values = tuple[Any, ...]
_UNITS = {
    "us": 0.001,
    "microsecond": 0.001,
    "ms": 1,
    "millisecond": 1,
    "s": 1000,
    "sec": 1000,
    "second": 1000,
    "m": 60_000,
    "min": 60_000,
    "minute": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
}
_INTERVAL = re.compile(r"\s*([0-9.]+)\s*([a-z]+)\s*$", re.IGNORECASE)
_CLOCK = re.compile(r"\s*([0-9]+):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)\s*$")


@dataclass(frozen=True)
class Table:
    """One output. `identity` is its reference's identity; columns are never null."""

    namespace: str
    name: str
    identity: int
    columns: tuple[tuple[str, Type], ...]
    key: tuple[str, ...]

    def key_of(self, row: Values) -> Values:
        """The key's values in a row."""
        names = [name for name, _ in self.columns]
        return tuple(row[names.index(name)] for name in self.key)


@dataclass(frozen=True)
class Change:
    """One change; a delete carries the whole old row."""

    identity: int
    op: Literal["i", "u", "d"]
    row: Values


class Kind(Protocol):
    """A generator's content; pure: the same tick gives the same rows, whoever asks and when."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every output."""
        ...

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """All rows of an output after `tick`; tick 0 is the beginning."""
        ...

    def changes(self, tick: int) -> Iterator[Change]:
        """What tick number `tick` (1, 2, ...) does, over all outputs: one transaction."""
        ...


@dataclass(frozen=True)
class Clock:
    """When ticks are. Tick n is `start` + n x `interval` ms; none at or after `until`. An interval
    of 0 means no tick at all."""

    start: int
    interval: float
    until: int | None = None

    def due(self, now: int) -> int:
        """The newest tick at `now` (ms), 0 before the first."""
        if not self.interval:
            return 0
        end = now if self.until is None else min(now, self.until - 1)
        return max(0, int((end - self.start) / self.interval))

    def time_of(self, tick: int) -> int:
        """When a tick is, in ms."""
        return int(self.start + tick * self.interval)


def clock(options: Mapping[str, str], started_at: int, interval: str) -> Clock:
    """The clock that a definition asks for; `interval` is the default TICK INTERVAL."""
    return Clock(
        integer(options, "AS OF", started_at),
        milliseconds(options.get("TICK INTERVAL", interval)),
        integer(options, "UP TO", 0) or None,
    )


def integer(options: Mapping[str, str], name: str, default: int) -> int:
    """A number among the options. Raises Terminal for anything else."""
    given = options.get(name, str(default))
    try:
        return int(given)
    except ValueError:
        message = f"invalid {name}: {given}"
        raise Terminal(message, sqlstate="22023") from None


def milliseconds(interval: str) -> float:
    """An interval such as `1s`, `500 ms`, `2 minutes` or `00:00:01`. Raises Terminal."""
    if interval.strip() in ("", "0"):
        return 0
    found = _INTERVAL.match(interval)
    unit = found[2].lower() if found else ""
    factor = _UNITS.get(unit, _UNITS.get(unit.removesuffix("s")))
    if found and factor is not None:
        return float(found[1]) * factor
    parts = _CLOCK.match(interval)
    if parts:
        return (int(parts[1]) * 3600 + int(parts[2]) * 60 + float(parts[3])) * 1000
    message = f"invalid TICK INTERVAL: {interval}"
    raise Terminal(message, hint="Write it like '1s' or '500ms'.", sqlstate="22023")
