"""Frames that a step uses several times, computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.relation import Relation
from ingest.tables import net, view_tail
from ingest.tables.handed import Send
from ingest.tables.net import Net
from ingest.tables.schema import DIFF, collected

_THROUGH_CLIENT = 600_000
"""So many values of rows may come through this process."""
_BROADCAST = 500_000


@dataclass
class Holder:
    """Keeps frames for one step: small ones come through this process, large stay in Spark."""

    live: SparkSession
    send: Send
    kept: list[DataFrame] = field(default_factory=list)
    """What Spark keeps goes when the last frame over it does."""

    def net(self, found: Net, relation: Relation, rows: int) -> Net | None:
        """Net changes of at most `rows` rows, to be used several times; None when there are none
        after all. Few of them are in one partition, so that groups of them need no exchange."""
        if not found.ready and rows * len(relation.columns) <= _THROUGH_CLIENT:
            places = [f"c{number}" for number in range(len(relation.columns))]
            found = net.sent(self.send, collected(found.rows.toDF(*places, DIFF)), relation)
        if found.ready:
            one = partial(_in_one_partition, found)
            return None if found.nothing else replace(found, make=one)
        kept = found.rows.localCheckpoint()
        self.kept.append(kept)
        whole = F.broadcast(kept) if rows <= _BROADCAST else kept
        return Net(lambda: whole, ready=True)


def _in_one_partition(found: Net) -> DataFrame:
    return found.rows.coalesce(1)


def only(relation: Relation, names: Collection[str] | None) -> Relation:
    """The columns of those names, at least one; None: all of them."""
    if names is None:
        return relation
    found = tuple(column for column in relation.columns if column.name in names)
    return Relation(found or relation.columns[:1])


class Inputs(Mapping[str, DataFrame]):
    """Frames by name, each made when it is first asked for: planning one looks at its log."""

    def __init__(self, names: Collection[str], make: Callable[[str], DataFrame]) -> None:
        """`make` gives the frame of one of the `names`."""
        self._names = tuple(names)
        self._make = make
        self._made: dict[str, DataFrame] = {}

    def __getitem__(self, name: str) -> DataFrame:
        """The frame; raises KeyError for what is no input, and what making it raises."""
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        """Whether it is one of the names; makes nothing."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self._names)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._names)


@contextmanager
def holder(live: SparkSession, send: Send | None = None) -> Iterator[Holder]:
    """A holder whose frames end with the block. `send`: how rows of this process go to Spark."""
    found = Holder(live, send or partial(view_tail.local, live))
    try:
        yield found
    finally:
        found.kept.clear()


def typed_changes(changes: DataFrame, relation: Relation) -> DataFrame:
    """Changes by place, mz_diff last, under the relation's names and with its types."""
    places = [f"c{number}" for number in range(len(relation.columns))]
    columns = [
        F.col(place).cast(column.type.spark).alias(column.name)
        for place, column in zip(places, relation.columns, strict=True)
    ]
    return changes.toDF(*places, DIFF).select(*columns, F.col(DIFF).cast("bigint"))
