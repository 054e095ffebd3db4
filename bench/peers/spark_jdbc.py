"""Spark's JDBC source over two ctid ranges under one exported snapshot, to Delta, in a warm
session; prints the seconds of the second run."""

import sys
import tempfile
import time
from pathlib import Path

import psycopg
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import os  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession  # noqa: E402

dsn, table, driver = sys.argv[1:4]
out = tempfile.mkdtemp(prefix="bench-jdbc-")
facts = conninfo_to_dict(dsn)


def session() -> SparkSession:
    """A local Spark with Delta and the driver."""
    jars = ",".join([*map(str, settings.HEADRACE_JARS.glob("*.jar")), driver])
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


def copy(spark: SparkSession, turn: int) -> float:
    """Copy the table once."""
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
        rows.write.format("delta").save(f"{out}/{turn}")
        return time.monotonic() - began


if __name__ == "__main__":
    spark = session()
    copy(spark, 0)
    print(copy(spark, 1))
