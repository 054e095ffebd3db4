"""The changes of a query that nobody maintains: what it gives now, less what it gave before."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.reports import ResultSet
from ingest.contract.types import BIGINT, MZ_TIMESTAMP
from ingest.tables import reading, schema
from ingest.tables.schema import DIFF, TIME


def query_changes(plane: Plane, old: Query, new: Query) -> ResultSet:
    """Rows, their time (`new.time`) and by how many they changed; see `ingest.engine`."""

    def work(live: SparkSession) -> ResultSet:
        frame = _difference(plane, live, old, new)
        own = schema.relation(frame.schema).columns[:-2]
        relation = Relation((*own, Column(TIME, MZ_TIMESTAMP), Column(DIFF, BIGINT)))
        return ResultSet(relation, schema.conform(frame.toArrow(), relation))

    return spark.run(plane, work, repeat=True)


def _difference(plane: Plane, live: SparkSession, old: Query, new: Query) -> DataFrame:
    after = reading.at_time(plane, live, new)
    names = [f"c{place}" for place in range(len(after.columns))]
    before = reading.at_time(plane, live, old).toDF(*names)
    come = after.toDF(*names).withColumn(DIFF, F.lit(1))
    both = come.unionAll(before.withColumn(DIFF, F.lit(-1)))
    summed = both.groupBy(*names).agg(F.sum(DIFF).alias(DIFF)).where(F.col(DIFF) != 0)
    time = F.lit(new.time).cast("bigint").alias(TIME)
    return summed.select(*names, time, F.col(DIFF).cast("bigint").alias(DIFF))
