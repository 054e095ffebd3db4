"""The catalog on PostgreSQL: migrations, statements, the system catalog, leases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services.postgres import Postgres

pytestmark = pytest.mark.postgres
ROOT = Path(__file__).resolve().parents[3]
STATEMENTS = """
from catalog import leases
from catalog import desired
from catalog.session import Session, role_for
session = Session(role_for("local/embedded", "ada@example.com", superuser=True))
done = list(session.execute(
    "CREATE SECRET pw AS 'x'; CREATE SOURCE house FROM LOAD GENERATOR AUCTION;"
    "CREATE TABLE bids FROM SOURCE house (REFERENCE bids);"
    "CREATE VIEW big AS SELECT * FROM bids"
))
(rows,) = session.execute("SELECT name FROM mz_objects WHERE id LIKE 'u%' ORDER BY 1")
print([one.tag for one in done], rows.data.column(0).to_pylist())
print(leases.acquire_feed("local/embedded", *desired.wanted_feeds("local/embedded"), "a:1:b"))
list(session.execute("DROP SOURCE house CASCADE"))
print(desired.dropped_feeds("local/embedded"))
"""


def test_the_catalog_on_postgres(postgres: Postgres, tmp_path: Path) -> None:
    postgres.create_database("headrace_catalog")
    where = f"{postgres.user}:{postgres.password}@{postgres.host}:{postgres.port}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEADRACE_")}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "HEADRACE_HOME": str(tmp_path),
        "HEADRACE_DATABASE": f"postgresql://{where}/headrace_catalog",
    }

    def manage(*arguments: str) -> str:
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("migrate", "--verbosity", "0")
    assert manage("shell", "--verbosity", "0", "-c", STATEMENTS).splitlines() == [
        "['CREATE SECRET', 'CREATE SOURCE', 'CREATE TABLE', 'CREATE VIEW'] "
        "['bids', 'big', 'house', 'pw']",
        "1",
        "('f1',)",
    ]
