"""COUNTER: one number more at every tick, and with MAX CARDINALITY the oldest one less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingest.contract.types import BIGINT
from ingest.feeds.generators import kind
from ingest.feeds.generators.kind import Change, Table, Values

_TABLE = Table("counter", "counter", 1, (("counter", BIGINT),), ("counter",))


class Counter:
    """The generator."""

    tables = (_TABLE,)

    def __init__(self, options: Mapping[str, str]) -> None:
        self._most = kind.integer(options, "MAX CARDINALITY", 0)

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """The numbers that are there after a tick."""
        del identity
        first = max(1, tick - self._most + 1) if self._most else 1
        return ((number,) for number in range(first, tick + 1))

    def changes(self, tick: int) -> Iterator[Change]:
        """The next number."""
        yield Change(_TABLE.identity, "i", (tick,))
        if self._most and tick > self._most:
            yield Change(_TABLE.identity, "d", (tick - self._most,))
