"""dlt's sql_database through pyarrow to a Delta table on disk; prints the seconds."""

import os
import sys
import tempfile
import time

dsn, table = sys.argv[1:3]
out = tempfile.mkdtemp(prefix="bench-dlt-")
os.environ.update(RUNTIME__DLTHUB_TELEMETRY="false", DLT_DATA_DIR=f"{out}/.dlt")

import dlt  # noqa: E402
from dlt.sources.sql_database import sql_table  # noqa: E402
from sqlalchemy.engine import URL  # noqa: E402

facts = dict(word.split("=", 1) for word in dsn.split())
url = URL.create(
    "postgresql+psycopg2",
    facts["user"],
    facts["password"],
    facts["host"],
    int(facts["port"]),
    facts["dbname"],
)

if __name__ == "__main__":
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
    print(time.monotonic() - began)
