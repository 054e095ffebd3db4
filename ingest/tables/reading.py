"""Queries: every input at one time, one Spark job where that can be."""

from __future__ import annotations

import threading
import uuid
from typing import cast

import grpc
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import SQL, SubqueryAlias
from pyspark.sql.connect.session import SparkSession as ConnectSession
from pyspark.sql.types import StructType

from ingest import spark
from ingest.contract.commands import Query
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.contract.reports import ResultSet
from ingest.errors import IngestError
from ingest.tables import collection, schema


def read(plane: Plane, query: Query) -> ResultSet:
    """Run the query; see `ingest.engine.read`."""
    data, shape = spark.run(plane, lambda live: _collect(plane, live, query), repeat=True)
    relation = schema.relation(shape)
    return ResultSet(relation, schema.conform(data, relation))


def analyze(plane: Plane, query: Query) -> Relation:
    """The query's columns; see `ingest.engine.analyze`."""

    def work(live: SparkSession) -> StructType:
        inputs = {
            name: schema.empty(live, source.relation) for name, source in query.inputs.items()
        }
        return frame(live, query.sql, inputs).schema

    return schema.relation(spark.run(plane, work, repeat=True))


def cancel(plane: Plane, tag: str) -> None:
    """Stop what runs under the tag in this process's sessions."""
    spark.interrupt(plane, tag)


def frame(session: SparkSession, sql: str, inputs: dict[str, DataFrame]) -> DataFrame:
    """A query over frames by name.

    Spark makes views of them in the session for as long as it plans, so each query's have names
    that no other query's have, and the query's own names are aliases inside it.
    """
    mark = uuid.uuid4().hex
    own = {name: f"{name}_{mark}" for name in inputs}
    views = [
        SubqueryAlias(cast(ConnectDataFrame, source)._plan, own[name])  # noqa: SLF001
        for name, source in inputs.items()
    ]
    aliases = [" ".join((name, "AS (TABLE", view + ")")) for name, view in own.items()]
    text = "\n".join(("WITH", ", ".join(aliases), "(", sql, ")")) if aliases else sql
    return ConnectDataFrame(SQL(text, [], {}, views), cast(ConnectSession, session))


def at_time(plane: Plane, session: SparkSession, query: Query) -> DataFrame:
    """The query with every input at `query.time`."""
    inputs = {
        name: collection.at(plane, session, source, query.time)
        for name, source in query.inputs.items()
    }
    whole = frame(session, query.sql, inputs)
    return whole if query.limit is None else whole.limit(query.limit)


def _collect(plane: Plane, session: SparkSession, query: Query) -> tuple[pa.Table, StructType]:
    tag = query.tag or f"read-{uuid.uuid4().hex}"
    late = threading.Event()

    def stop() -> None:
        late.set()
        session.interruptTag(tag)

    timer = threading.Timer(query.timeout, stop) if query.timeout else None
    session.addTag(tag)
    try:
        if timer:
            timer.start()
        result = at_time(plane, session, query)
        data, shape = result._to_table()  # type: ignore[operator]  # noqa: SLF001
    except (PySparkException, grpc.RpcError) as error:
        if late.is_set():
            message = "canceling statement due to statement timeout"
            raise IngestError(message, sqlstate="57014") from error
        raise
    finally:
        session.removeTag(tag)
        if timer:
            timer.cancel()
    return data, shape or result.schema
