"""A feed that kills itself at each named point, started again, loses and doubles nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from ingest import delta
from ingest.contract.commands import Feed
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget, Secret
from ingest.feeds.postgres import drop_feed
from tests.ingest.feeds import replay
from tests.ingest.feeds.host import exports_of
from tests.services.postgres import Postgres

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.faults]
ROOT = Path(__file__).parents[3]
POINTS = [
    ("slot made", 0),
    ("snapshot chunk", 0),
    ("last chunk", 0),
    ("log written", 0),
    ("log written", 2),
    ("log committed", 0),
    ("log committed", 2),
    ("confirmed", 2),
]


def run(plane: Plane, feed: Feed, wanted: int, point: str = "") -> int:
    """One life of the feed in a process of its own, until it has reached `wanted` or died."""
    assert isinstance(feed.target, PostgresTarget)
    target = feed.target
    arguments = {
        "plane": [plane.remote, plane.warehouse],
        "target": [target.host, target.port, target.database, target.user],
        "password": str(target.password),
        "feed": [feed.id, feed.epoch, feed.publication, feed.slot],
        "wanted": wanted,
        "point": [point],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.ingest.feeds.one_life", json.dumps(arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
        capture_output=True,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()[-2000:]
    return done.returncode


@pytest.mark.parametrize(("point", "life"), POINTS)
def test_killed_at(postgres: Postgres, plane: Plane, point: str, life: int) -> None:
    name = f"killed_{point.replace(' ', '_')}_{life}"
    target = PostgresTarget(
        postgres.host, postgres.port, name, postgres.user, Secret(postgres.password)
    )
    feed = Feed(name, 1, target, "pub", f"slot_{name}")
    with psycopg.connect(postgres.create_database(name), autocommit=True) as session:
        session.execute(
            "create table k (id int primary key, v text);"
            "create table f (a int, b text); alter table f replica identity full;"
            "insert into k select i, 'v' from generate_series(1, 300) i;"
            "insert into f values (1, 'x'), (1, 'x'); create publication pub for all tables"
        )
        deaths = 0
        for number in range(6):
            session.execute("update k set v = v || 'u' where id %% 7 = %s::int", (number,))
            session.execute("insert into f select a, 'more' from f limit 3")
            armed = point if deaths == 0 and number >= life else ""
            born = replace(feed, epoch=number + 1)
            deaths += run(plane, born, _position(session), armed) != 0
        assert deaths == 1
        for export in exports_of(target, "pub"):
            last = delta.find(
                delta.base_path(plane, export.shard), lambda v: "frontier" in v.metadata
            )
            assert last is not None
            position = json.loads(last.metadata)["frontier_position"]
            here = replay.contents(plane, feed.id, export, position)
            query = psycopg.sql.SQL("select * from {}").format(psycopg.sql.Identifier(export.name))
            rows = session.execute(query).fetchall()
            assert here == Counter(tuple(str(value) for value in row) for row in rows)
    drop_feed(plane, feed)


def _position(session: psycopg.Connection[tuple[object, ...]]) -> int:
    row = session.execute("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(str(row[0]))
