"""One maintainer at a time, when its rounds begin, and reports that come too late."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from catalog import leases
from catalog.maintenance import reports
from catalog.maintenance.maintainer import Maintainer
from catalog.maintenance.reports import Standing, ViewReport
from catalog.models import FeedProgress, Region, StatusHistory, ViewProgress
from catalog.models import Maintainer as Lease
from catalog.session import Session, role_for
from ingest.errors import HeadraceError

REGION = "local/embedded"


def view() -> ViewProgress:
    session = Session(role_for(REGION, "ada@example.com", superuser=True))
    list(session.execute("CREATE MATERIALIZED VIEW one AS SELECT 1 + 1 AS two"))
    return ViewProgress.objects.get()


def test_another_takes_over_when_the_lease_runs_out(db: None) -> None:
    first, second = Maintainer(REGION, "far:1:a"), Maintainer(REGION, "far:2:b")
    assert first._leads()
    assert not second._leads()
    Lease.objects.update(lease_expires=timezone.now() - timedelta(seconds=1))
    assert second._leads()
    first._renewed = -100.0
    assert not first._leads()
    assert leases.acquire_views(REGION, "far:1:a") is None
    leases.release_views(REGION, "far:2:b")
    assert first._leads()


def test_a_process_of_this_host_that_ended_is_not_waited_for(db: None) -> None:
    assert leases.acquire_views(REGION, leases.owner_name("x").replace(":", ":9", 1)) is not None
    assert Maintainer(REGION, "far:1:a")._leads()


def test_a_round_begins_when_a_feed_comes_further(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HEADRACE_VIEW_INTERVAL = 3600.0
    session = Session(role_for(REGION, "ada@example.com", superuser=True))
    for sql in (
        "CREATE SOURCE house FROM LOAD GENERATOR AUCTION",
        "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)",
        "CREATE MATERIALIZED VIEW most AS SELECT max(amount) FROM bids",
    ):
        list(session.execute(sql))
    maintainer, begun = Maintainer(REGION, "far:1:a"), list[float]()
    begin = maintainer._begin

    def counted(now: float) -> None:
        begun.append(now)
        begin(now)

    monkeypatch.setattr(maintainer, "_begin", counted)
    for through in (0, 0, 1000, 1000, 2000):
        FeedProgress.objects.update(complete_through=through)
        maintainer.turn()
    assert len(begun) == 3


def test_what_an_owner_of_before_found_is_not_taken(db: None) -> None:
    shard = view().shard
    epoch = leases.acquire_views(REGION, "far:1:a")
    revision = Region.objects.get().revision
    assert reports.advance(REGION, {shard: 7}, Standing(revision, epoch))
    assert not reports.advance(REGION, {shard: 9}, Standing(revision - 1, epoch))
    assert not reports.advance(REGION, {shard: 9}, Standing(revision, (epoch or 0) - 1))
    assert ViewProgress.objects.get().complete_through == 7


def test_reports_write_history_only_on_change(db: None) -> None:
    shard = view().shard
    before = StatusHistory.objects.count()
    running = reports.cleared(ViewReport(shard, "running", complete_through=5))
    for _ in range(3):
        reports.write(REGION, [running])
    failure = reports.failed(shard, HeadraceError("division by zero", sqlstate="22012"))
    for _ in range(3):
        reports.write(REGION, [failure])
    assert StatusHistory.objects.count() == before + 2
    row = ViewProgress.objects.get()
    assert (row.status, row.error, row.sqlstate) == ("stalled", "division by zero", "22012")
    assert row.complete_through == 5
    reports.write(REGION, [ViewReport(shard, complete_through=3)])
    assert ViewProgress.objects.get().complete_through == 5
