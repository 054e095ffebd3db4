"""Takes a fresh server through its first steps, so that the first user does not wait for them.

python -m ingest.replicas.warm sc://HOST:PORT DIRECTORY
"""

from __future__ import annotations

import sys

import pyarrow as pa

from ingest.contract.plane import Plane
from ingest.spark import session


def warm(plane: Plane) -> None:
    """Run a query, and write and read a small Delta table in the plane's warehouse."""
    spark = session(plane)
    path = f"{plane.warehouse}/warm"
    rows = pa.table({"id": [1, 2, 3], "word": ["a", "b", "c"]})
    spark.createDataFrame(rows).write.format("delta").mode("overwrite").save(path)
    spark.read.format("delta").load(path).groupBy("word").count().toArrow()


if __name__ == "__main__":
    warm(Plane(sys.argv[1], sys.argv[2]))
