"""Leases, reports and the oracle on the test database."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from catalog import leases, reads
from catalog.controller import Host, write_reports
from catalog.desired import dropped_feeds, feed_command, wanted_feeds
from catalog.models import Feed, Region, StatusHistory
from catalog.oracle import next_time
from ingest.contract.reports import ExportReport, FeedReport
from tests.catalog.session.conftest import Run

REGION = "local/embedded"
SETUP = """
    CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
    CREATE TABLE bids FROM SOURCE house (REFERENCE bids)
"""


def test_oracle_only_grows(db: None) -> None:
    far = next_time(REGION) + 10**9
    Region.objects.update(oracle_time=far)
    assert next_time(REGION) == far + 1
    assert next_time(REGION, far + 50) == far + 51


def test_feed_follows_its_source(run: Run) -> None:
    run(SETUP)
    assert wanted_feeds(REGION) == ("f1",)
    feed = feed_command(REGION, "f1")
    assert feed is not None
    assert [(one.table, one.namespace, one.name) for one in feed.exports] == [
        ("u2", "auction", "bids")
    ]
    run("DROP SOURCE house CASCADE")
    assert feed_command(REGION, "f1") is None
    assert dropped_feeds(REGION) == ("f1",)


def test_leases(run: Run) -> None:
    run(SETUP)
    assert leases.acquire_feed(REGION, "f1", "elsewhere:1:a") == 1
    assert leases.acquire_feed(REGION, "f1", "elsewhere:2:b") is None
    assert leases.renew_feed(REGION, "f1", "elsewhere:1:a", 1)
    Feed.objects.update(lease_expires=timezone.now() - timedelta(seconds=1))
    assert leases.acquire_feed(REGION, "f1", "elsewhere:2:b") == 2
    assert not leases.renew_feed(REGION, "f1", "elsewhere:1:a", 1)
    assert Host(REGION, "f1", "elsewhere:1:a", 1).desired() is None
    assert Host(REGION, "f1", "elsewhere:2:b", 2).desired() is not None


def test_reports_write_history_only_on_change(run: Run) -> None:
    run(SETUP)
    before = StatusHistory.objects.count()
    for time in (10, 20, 30):
        write_reports(
            REGION,
            (
                FeedReport("f1", "running", complete_through=time, upto=time),
                ExportReport("u2", "running", "running", readable_from=5, rows_staged=time),
            ),
        )
    assert StatusHistory.objects.count() == before + 2
    table = reads.table("u2")
    assert table is not None
    assert (table.readable_from, table.rows_staged, table.drift) == (5, 30, ())
    source = reads.source("u1")
    assert source is not None
    assert source.feed is not None
    assert (source.status.status, source.feed.complete_through, source.tables) == (
        "running",
        30,
        1,
    )
    assert len(reads.references("u1")) == 5
    assert [row.name for row in reads.dependents("u1")] == ["bids"]
    assert reads.audit()[0].event == "create"
