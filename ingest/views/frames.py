"""Frames that a step uses several times, computed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.relation import Relation
from ingest.tables import view_tail
from ingest.tables.net import Net
from ingest.tables.schema import DIFF

_THROUGH_CLIENT = 50_000
_BROADCAST = 500_000


@dataclass
class Holder:
    """Keeps frames for one step: small ones come through this process, large stay in Spark."""

    live: SparkSession
    kept: list[DataFrame] = field(default_factory=list)
    """What Spark keeps goes when the last frame over it does."""

    def net(self, found: Net, relation: Relation, rows: int) -> DataFrame | None:
        """Net changes of at most `rows` rows, to be used several times; None when there are none
        after all."""
        if found.ready:
            return found.rows
        if rows <= _THROUGH_CLIENT:
            names = [*(f"c{number}" for number in range(len(relation.columns))), DIFF]
            table = found.rows.toDF(*names).toArrow()
            return view_tail.local(self.live, table, relation) if table.num_rows else None
        kept = found.rows.localCheckpoint()
        self.kept.append(kept)
        return F.broadcast(kept) if rows <= _BROADCAST else kept


@contextmanager
def holder(live: SparkSession) -> Iterator[Holder]:
    """A holder whose frames end with the block."""
    found = Holder(live)
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
