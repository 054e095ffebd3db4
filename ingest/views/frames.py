"""Frames that a step uses several times, computed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.relation import Relation
from ingest.tables import view_tail
from ingest.tables.net import Net
from ingest.tables.schema import DIFF

_THROUGH_CLIENT = 100_000


@dataclass
class Holder:
    """Keeps frames for one step: small ones come through this process, large stay in Spark."""

    live: SparkSession
    kept: list[DataFrame] = field(default_factory=list)

    def net(self, found: Net, relation: Relation, rows: int) -> DataFrame | None:
        """Net changes of at most `rows` rows, to be used several times; None when there are none
        after all."""
        if found.ready:
            return found.rows
        if rows <= _THROUGH_CLIENT:
            names = [*(f"c{number}" for number in range(len(relation.columns))), DIFF]
            table = found.rows.toDF(*names).toArrow()
            return view_tail.local(self.live, table, relation) if table.num_rows else None
        kept = found.rows.persist()
        self.kept.append(kept)
        return kept if kept.count() else None


@contextmanager
def holder(live: SparkSession) -> Iterator[Holder]:
    """A holder whose frames end with the block."""
    found = Holder(live)
    try:
        yield found
    finally:
        for frame in found.kept:
            with suppress(*spark.FAILURES):
                frame.unpersist()


def typed_changes(changes: DataFrame, relation: Relation) -> DataFrame:
    """Changes by place, mz_diff last, under the relation's names and with its types."""
    places = [f"c{number}" for number in range(len(relation.columns))]
    columns = [
        F.col(place).cast(column.type.spark).alias(column.name)
        for place, column in zip(places, relation.columns, strict=True)
    ]
    return changes.toDF(*places, DIFF).select(*columns, F.col(DIFF).cast("bigint"))
