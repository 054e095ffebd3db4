"""Catalogs that older releases left, kept as they were: this release reads them and goes on.

`fixtures/release_N.sql` is what release N had in its database; every release adds the next one.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("release_*.sql"))
ROOT = Path(__file__).parents[3]
_CHECK = """
import django
django.setup()
from catalog import snapshot
from catalog import desired
from catalog.migrate.dump import dump
from catalog.migrate.releases import look
from catalog.migrate.rollout import progress
from catalog.session import Session
region = "local/embedded"
picture = snapshot.current(region)
names = {entry.path[1:]: entry.kind for entry in picture.entries.values()}
assert names[("public", "offers")] == "table", names
assert names[("public", 'Odd "name"')] == "table"
assert names[("other", "ticks")] == "source"
assert names[("public", "big")] == "view"
assert "headrace.public.offers" in picture.by_path["headrace", "public", "big"].create_sql
assert len(picture.entries) == 9
assert picture.flags["enable_create_table_from_source"] == "on"
assert progress(region).left == 0
assert not look(region).plan.changes
assert len(dump(region).splitlines()) > 12
feeds = desired.wanted_feeds(region)
assert len(feeds) == 2
exports = [desired.feed_command(region, feed).exports for feed in feeds]
assert sorted(map(len, exports)) == [1, 2]
session = Session("ada@example.com", region)
for statement in (
    "CREATE VIEW later AS SELECT id FROM bigger",
    "CREATE MATERIALIZED VIEW kept AS SELECT count(*) AS n FROM offers",
    "ALTER VIEW bigger RENAME TO biggest",
    "DROP VIEW later",
    "COMMENT ON TABLE offers IS 'were bids'",
):
    list(session.execute(statement))
(rows,) = session.execute("SELECT name FROM mz_tables ORDER BY name")
assert [row["name"] for row in rows.data.to_pylist()] == ['Odd "name"', "offers", "ticks_table"]
print("well")
"""


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_an_older_catalog_is_read(fixture: Path, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "catalog.sqlite3")
    database.executescript(fixture.read_text())
    database.close()
    _run(tmp_path, "manage.py", "migrate", "-v", "0")
    assert "remembered" in _run(tmp_path, "manage.py", "builtins", "apply")
    assert "well" in _run(tmp_path, "-c", _CHECK)


def _run(home: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "HEADRACE_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
