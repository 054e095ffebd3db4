"""A block of a view's query, all of it, over frames of the view's inputs."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.contract.views import Block, View
from ingest.tables import collection, reading


def rows(plane: Plane, live: SparkSession, view: View, time: int) -> DataFrame:
    """The view's rows at `time` (ms), computed from its inputs then; columns of its relation.

    Raises IngestError when an input cannot be read at that time.
    """
    return typed(block(live, view.root, inputs(plane, live, view, time)), view.relation)


def inputs(plane: Plane, live: SparkSession, view: View, time: int) -> dict[str, DataFrame]:
    """The view's inputs at `time` (ms) by name."""
    return {name: collection.at(plane, live, i, time) for name, i in view.inputs.items()}


def block(live: SparkSession, wanted: Block, given: Mapping[str, DataFrame]) -> DataFrame:
    """The rows of a block over `given`, the inputs by name."""
    return reading.frame(live, wanted.sql, {name: given[name] for name in wanted.inputs})


def typed(found: DataFrame, relation: Relation) -> DataFrame:
    """Columns by place, under the relation's names and with its types."""
    places = found.toDF(*(f"c{number}" for number in range(len(relation.columns))))
    return places.select(
        *(
            F.col(f"c{number}").cast(column.type.spark).alias(column.name)
            for number, column in enumerate(relation.columns)
        )
    )
