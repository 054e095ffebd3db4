"""Spark's JDBC source over two ctid ranges under one exported snapshot, to Delta, in a warm
session; prints the seconds of the second run."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pyspark.sql import SparkSession


def session(jars: str) -> SparkSession:
    """A local Spark with the jars: Delta's and the driver's."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("jdbc")
    for name, value in {
        "spark.jars": jars,
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def copy(spark: SparkSession, dsn: str, table: str, out: Path) -> float:
    """Copy the table once; seconds."""
    facts = conninfo_to_dict(dsn)
    with psycopg.connect(dsn) as holder:
        holder.execute("set transaction isolation level repeatable read read only")
        snapshot, pages = holder.execute(
            "select pg_export_snapshot(), relpages from pg_class where relname = %s", (table,)
        ).fetchone() or ("", 0)
        half = pages // 2
        began = time.monotonic()
        rows = spark.read.jdbc(
            f"jdbc:postgresql://{facts['host']}:{facts['port']}/{facts['dbname']}",
            table,
            predicates=[f"ctid < '({half},0)'::tid", f"ctid >= '({half},0)'::tid"],
            properties={
                "user": str(facts["user"]),
                "password": str(facts["password"]),
                "driver": "org.postgresql.Driver",
                "fetchsize": "10000",
                "sessionInitStatement": "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"
                f" SET TRANSACTION SNAPSHOT '{snapshot}'",
            },
        )
        rows.write.format("delta").save(str(out))
        return time.monotonic() - began


def main(dsn: str, table: str, jars: str) -> float:
    """A cold copy, then the one that counts."""
    spark = session(jars)
    out = Path(tempfile.mkdtemp(prefix="bench-jdbc-"))
    copy(spark, dsn, table, out / "cold")
    return copy(spark, dsn, table, out / "warm")


if __name__ == "__main__":
    sys.stdout.write(f"{main(*sys.argv[1:4])}\n")
