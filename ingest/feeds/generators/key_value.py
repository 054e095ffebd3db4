"""KEY VALUE: keys over partitions whose values are replaced round after round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingest.contract.types import Type
from ingest.feeds.generators import kind, noise
from ingest.feeds.generators.kind import Change, Table, Values

_NUMBER = Type("uint8")
_TABLE = Table(
    "key value",
    "key_value",
    1,
    (("partition", _NUMBER), ("key", _NUMBER), ("value", Type("bytea")), ("offset", _NUMBER)),
    ("partition", "key"),
)


class KeyValue:
    """The generator. A tick replaces the next BATCH SIZE keys of every partition."""

    tables = (_TABLE,)

    def __init__(self, options: Mapping[str, str]) -> None:
        self._partitions = max(1, kind.integer(options, "PARTITIONS", 1))
        self._keys = max(1, kind.integer(options, "KEYS", 16) // self._partitions)
        self._rounds = max(1, kind.integer(options, "SNAPSHOT ROUNDS", 1))
        self._batch = min(max(1, kind.integer(options, "BATCH SIZE", 1)), self._keys)
        self._size = kind.integer(options, "VALUE SIZE", 16)
        self._seed = kind.integer(options, "SEED", 1)

    def state(self, identity: int, tick: int) -> Iterator[Values]:
        """Every key with its newest value."""
        del identity
        written = tick * self._batch
        for partition in range(self._partitions):
            for place in range(self._keys):
                times = (written - place + self._keys - 1) // self._keys
                yield self._row(partition, place, times)

    def changes(self, tick: int) -> Iterator[Change]:
        """New values for the next keys."""
        for partition in range(self._partitions):
            for number in range((tick - 1) * self._batch, tick * self._batch):
                place, times = number % self._keys, number // self._keys + 1
                yield Change(_TABLE.identity, "u", self._row(partition, place, times))

    def _row(self, partition: int, place: int, times: int) -> Values:
        """A key's value after `times` replacements; offsets count a partition's writes."""
        key = partition + place * self._partitions
        offset = (self._rounds - 1 + times) * self._keys + place
        value = noise.data(self._size, self._seed, key, self._rounds + times)
        return partition, key, value, offset
