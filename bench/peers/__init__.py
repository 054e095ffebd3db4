"""The peers: each a small script that does the same work its own way.

copy    PostgreSQL's COPY binary over two connections, thrown away: the limit
jdbc    a warm Spark with JDBC over two ctid ranges under one snapshot, to Delta
dlt     dlt's sql_database (pyarrow) to Delta, in a virtual environment of its own
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from functools import cache
from pathlib import Path

import psycopg
from django.conf import settings
from psycopg import sql

from tests.services.postgres import Postgres
from tools.jars import Jar, fetch

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("BENCH_CACHE", Path.home() / ".cache" / "headrace-bench"))
JDBC_DIGEST = "73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c"
DLT = (
    "dlt[postgres,filesystem,deltalake,parquet]==1.31.0",
    "sqlalchemy==2.1.9",
    "psycopg2-binary",
)


def available(name: str) -> bool:
    """Whether the peer can run here; says why not."""
    check = {"dlt": _dlt_python, "jdbc": _jdbc_jar}.get(name)
    try:
        if check is not None:
            check()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  {name} left out: {error}", file=sys.stderr)
        return False
    return True


def copy_limit(server: Postgres, dsn: str, table: str) -> float:
    """Seconds that COPY binary takes over two connections, halves by ctid, one snapshot."""
    with psycopg.connect(dsn) as holder:
        holder.execute("set transaction isolation level repeatable read read only")
        snapshot, pages = holder.execute(
            "select pg_export_snapshot(), relpages from pg_class where relname = %s", (table,)
        ).fetchone() or ("", 0)
        ranges = [(0, pages // 2), (pages // 2, 2**32 - 1)]
        began = time.monotonic()
        readers = [_copy(server, dsn, (snapshot, table), range_) for range_ in ranges]
        for reader in readers:
            assert reader.wait() == 0
        return time.monotonic() - began


def _copy(
    server: Postgres, dsn: str, of: tuple[str, str], pages: tuple[int, int]
) -> subprocess.Popen[bytes]:
    snapshot, table = of
    first, end = pages
    with psycopg.connect(dsn) as connection:
        begin = sql.SQL(
            "begin isolation level repeatable read read only; set transaction snapshot {}"
        ).format(sql.Literal(snapshot))
        body = sql.SQL(
            "copy (select * from {} where ctid >= {}::tid and ctid < {}::tid)"
            " to stdout (format binary)"
        ).format(sql.Identifier(table), sql.Literal(f"({first},0)"), sql.Literal(f"({end},0)"))
        words = [begin.as_string(connection), body.as_string(connection)]
    psql = server.binaries / "psql"
    command = [str(psql if psql.exists() else "psql"), dsn, "-qAt", "-c", words[0], "-c", words[1]]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def spark_jdbc(dsn: str, table: str) -> float:
    """Seconds of the second of two runs in one warm session."""
    jars = [*settings.HEADRACE_JARS.glob("*.jar"), _jdbc_jar()]
    words = [dsn, table, ",".join(str(jar) for jar in jars)]
    return _seconds([sys.executable, str(HERE / "spark_jdbc.py"), *words])


def dlt_delta(dsn: str, table: str) -> float:
    """Seconds of one dlt run from start to a loaded Delta table."""
    return _seconds([str(_dlt_python()), str(HERE / "dlt_delta.py"), dsn, table])


def _seconds(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return float(done.stdout.splitlines()[-1])


@cache
def _dlt_python() -> Path:
    place = CACHE / "dlt"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *DLT], check=True)
    return python


@cache
def _jdbc_jar() -> Path:
    jar = Jar("org.postgresql", "postgresql", "42.7.14", JDBC_DIGEST)
    if not jar.is_in(CACHE):
        fetch([jar], CACHE)
    return CACHE / jar.file_name
