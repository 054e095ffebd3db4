"""Processes end at the worst moments; the next one finds what is left to do."""

from __future__ import annotations

import pytest
from django.conf import settings

from catalog.maintenance import hydrating
from catalog.models import Job, Maintainer, PlainTableWrite, ViewProgress
from catalog.time import closing
from ingest import engine
from ingest.errors import HeadraceError
from tests.catalog.maintenance.conftest import REGION, Region

pytestmark = pytest.mark.spark


@pytest.fixture
def counted(region: Region) -> Region:
    region.run("CREATE TABLE t (n int)")
    region.run("INSERT INTO t VALUES (1), (2)")
    region.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS rows FROM t")
    return region


def test_a_writer_that_dies_between_delta_and_catalog(counted: Region) -> None:
    counted.hydrate()
    counted.killed("rows written", "INSERT INTO t VALUES (3)")
    (row,) = PlainTableWrite.objects.filter(state="pending")
    assert closing.closed(REGION, [row.item.gid]).through == row.time - 1
    counted.keep()
    row.refresh_from_db()
    assert (row.state, row.rows) == ("done", 1)
    counted.keep()
    assert counted.run("SELECT (SELECT rows FROM v), (SELECT count(*) FROM t)") == [(3, 3)]


@pytest.mark.parametrize("point", ["hydrate started", "view hydrated"])
def test_a_worker_that_dies_while_it_hydrates(counted: Region, point: str) -> None:
    counted.killed(point, "hydrate")
    assert not counted.progress("v").hydrated
    assert Job.objects.filter(kind="hydrate").exists()
    counted.hydrate()
    assert counted.progress("v").hydrated
    assert not Job.objects.filter(kind="hydrate").exists()
    assert counted.run("SELECT rows FROM v") == [(2,)]


def test_a_maintainer_that_dies_after_its_step(counted: Region) -> None:
    counted.hydrate()
    counted.run("INSERT INTO t VALUES (3)")
    counted.killed("view step written", "turn")
    state = engine.view_state(settings.HEADRACE_PLANE, counted.progress("v").shard)
    assert state is not None
    assert state.time > counted.progress("v").complete_through
    Maintainer.objects.update(lease_owner="")
    counted.keep()
    counted.run("INSERT INTO t VALUES (4)")
    counted.keep()
    assert counted.run("SELECT rows FROM v") == [(4,)]


def test_hydration_is_cancelled_and_resumed(counted: Region) -> None:
    (item,) = ViewProgress.objects.values_list("item__gid", flat=True)
    assert hydrating.cancel_hydration(REGION, item)
    assert not hydrating.cancel_hydration(REGION, item)
    counted.hydrate()
    row = counted.progress("v")
    assert (row.status, row.hydrated) == ("paused", False)
    counted.run("SET statement_timeout = '100ms'")
    with pytest.raises(HeadraceError, match="its hydration was cancelled"):
        counted.run("SELECT * FROM v")
    counted.run("RESET statement_timeout")
    assert hydrating.resume_hydration(REGION, item)
    counted.hydrate()
    assert counted.run("SELECT rows FROM v") == [(2,)]
    assert not hydrating.cancel_hydration(REGION, item)


def test_a_door_that_dies_as_its_apply_is_committed(region: Region) -> None:
    """Nothing has to happen after the commit for a reader to see what was applied."""
    region.run("CREATE TABLE t (n int)")
    region.run("INSERT INTO t VALUES (1), (2)")
    region.run("CREATE MATERIALIZED VIEW v AS SELECT sum(n) AS n FROM t")
    region.run("CREATE REPLACEMENT MATERIALIZED VIEW r FOR v AS SELECT sum(n) * 10 AS n FROM t")
    region.hydrate()
    region.keep()
    assert region.run("SELECT n FROM v") == [(3,)]
    region.killed("apply committed", "ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert region.run("SELECT n FROM v") == [(30,)]
