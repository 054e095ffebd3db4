"""A generator's table from nothing: all its rows after one tick, written as its base."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.commands import Export, ExportColumn
from ingest.contract.plane import Plane
from ingest.feeds.generators import rows
from ingest.feeds.generators.kind import Kind
from ingest.feeds.spool import Spool

_CHUNK = 50_000
_ODD = set(" ,;{}()\n\t=")


def hydrate(plane: Plane, kind: Kind, export: Export, tick: int, feed: str) -> int:
    """Write the base of `export` as of `tick`; how many rows it has.

    Raises Transient when Spark is away. A base that is there already stays as it is.
    """
    path = delta.base_path(plane, export.shard)
    if delta.latest(path) >= 0:
        return 0
    folder = Spool(plane, feed + "-" + export.shard).folder()
    state = kind.state(export.reference, tick)
    while chunk := list(itertools.islice(state, _CHUNK)):
        folder.write(rows.typed(chunk, export.columns))
    if not folder.rows:
        folder.write(rows.typed([], export.columns))
    spooled = folder.finished()

    def work(live: SparkSession) -> None:
        columns = [
            F.col("`" + c.name.replace("`", "``") + "`").cast(c.type.spark).alias(c.name)
            for c in export.columns
        ]
        meta = delta.base_metadata(export.table, 0, tick)
        frame = live.read.parquet(spooled.path).select(*columns)
        writer = frame.write.format("delta").mode("error").option("userMetadata", meta)
        for name, value in _properties(export.columns).items():
            writer = writer.option(name, value)
        writer.save(path)

    try:
        spark.run(plane, work, "snapshot", repeat=False)
    finally:
        delta.remove(f"{plane.warehouse}/feeds/{feed}-{export.shard}")
    return folder.rows


def _properties(columns: Sequence[ExportColumn]) -> dict[str, str]:
    odd = any(set(c.name) & _ODD for c in columns)
    return {"delta.columnMapping.mode": "name"} if odd else {}
