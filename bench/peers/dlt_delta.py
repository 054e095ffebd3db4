"""dlt's sql_database through pyarrow to a Delta table on disk; prints the seconds.

Runs in the virtual environment that `bench.peers` makes for it, apart from the product's.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time


def copy(dsn: str, table: str) -> float:
    """Seconds of one run into a fresh folder; `dsn` is a libpq keyword string."""
    out = tempfile.mkdtemp(prefix="bench-dlt-")
    os.environ.update(RUNTIME__DLTHUB_TELEMETRY="false", DLT_DATA_DIR=f"{out}/.dlt")
    import dlt
    from dlt.sources.sql_database import sql_table
    from sqlalchemy.engine import URL

    facts = dict(word.split("=", 1) for word in dsn.split())
    url = URL.create(
        "postgresql+psycopg2",
        facts["user"],
        facts["password"],
        facts["host"],
        int(facts["port"]),
        facts["dbname"],
    )
    began = time.monotonic()
    rows = sql_table(
        credentials=url.render_as_string(hide_password=False),
        table=table,
        backend="pyarrow",
        chunk_size=100_000,
        reflection_level="full_with_precision",
    )
    pipeline = dlt.pipeline(
        "bench",
        pipelines_dir=f"{out}/.pipelines",
        destination=dlt.destinations.filesystem(f"file://{out}/lake"),
        dataset_name="d",
    )
    pipeline.run(
        rows, loader_file_format="parquet", table_format="delta", write_disposition="replace"
    )
    return time.monotonic() - began


if __name__ == "__main__":
    sys.stdout.write(f"{copy(*sys.argv[1:3])}\n")
