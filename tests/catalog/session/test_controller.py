"""Leases, reports and the oracle on the test database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog import leases, reads, snapshot
from catalog.control import upkeep
from catalog.control.controller import Host, write_reports
from catalog.desired import dropped_feeds, feed_command, wanted_feeds
from catalog.models import Feed, Job, Region, StatusHistory
from catalog.session import Session
from catalog.time.oracle import next_time
from ingest import engine
from ingest.contract.reports import ExportReport, FeedReport
from ingest.errors import Transient
from tests.catalog.session.conftest import Run, rows_of

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


def test_only_what_changed_is_written(run: Run) -> None:
    """Fifty tables that count rows every second made the feed wait for fifty whole rows."""
    run(SETUP)
    running = ExportReport("u2", "running", "running", readable_from=5)
    write_reports(REGION, (running,))
    with CaptureQueriesContext(connection) as queries:
        write_reports(REGION, (replace(running, updates_committed=7),))
    (update,) = [query["sql"] for query in queries if query["sql"].startswith("UPDATE")]
    written = {name for name in ("updates_committed", "rows_staged", "error") if name in update}
    assert written == {"updates_committed"}
    table = reads.table("u2")
    assert table is not None
    assert (table.updates_committed, table.readable_from) == (7, 5)


def test_counts_go_on_over_a_restart(run: Run) -> None:
    run(SETUP)
    for life in (1, 2):
        assert leases.acquire_feed(REGION, "f1", "elsewhere:1:a") == life
        host = Host(REGION, "f1", "elsewhere:1:a", life)
        copied = 7 if life == 1 else 0
        host.report((FeedReport("f1", "running", messages=3, bytes=30),))
        host.report(
            (
                FeedReport("f1", "running", messages=5, bytes=50),
                ExportReport("u2", "running", "running", 5, -1, copied, updates_committed=4),
            )
        )
    table, source = reads.table("u2"), reads.source("u1")
    assert table is not None
    assert source is not None
    assert source.feed is not None
    assert (source.feed.messages, source.feed.bytes) == (10, 100)
    assert (table.updates_committed, table.rows_staged) == (8, 7)


def test_a_life_that_is_over_is_not_heard(run: Run) -> None:
    """One that was paused and wakes up would call times complete that its successor is not at."""
    run(SETUP)
    owner = "elsewhere:1:a"
    lives = [leases.acquire_feed(REGION, "f1", owner) or 0 for _ in range(2)]
    old, new = (Host(REGION, "f1", owner, life) for life in lives)
    new.report((FeedReport("f1", "running", complete_through=20, upto=20),))
    old.report((FeedReport("f1", "stalled", complete_through=30, upto=20),))
    source = reads.source("u1")
    assert source is not None
    assert source.feed is not None
    assert (source.status.status, source.feed.complete_through) == ("running", 20)
    assert old.desired() is None
    assert new.desired() is not None


def test_a_slot_that_cannot_be_dropped_is_given_up(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(SETUP)
    Feed.objects.update(slot="headrace_x_f1")
    run("DROP SOURCE house CASCADE")
    asked: list[object] = []

    def away(_: object, feed: object) -> None:
        asked.append(feed)
        if len(asked) <= upkeep.DROP_ATTEMPTS:
            raise Transient("connection to 127.0.0.1:1 refused")

    monkeypatch.setattr(engine, "drop_feed", away)
    for _ in range(upkeep.DROP_ATTEMPTS):
        with pytest.raises(Transient):
            upkeep.drop_feed(REGION, "f1")
        upkeep.drop_feed(REGION, "f1")
        Job.objects.filter(kind="drop feed").update(due_at=timezone.now())
    assert len(asked) == upkeep.DROP_ATTEMPTS + 1
    assert dropped_feeds(REGION) == ()
    (result,) = run("SELECT status, error, hint FROM mz_internal.mz_feeds")
    assert rows_of(result) == [
        (
            "failed",
            'replication slot "headrace_x_f1" was left upstream',
            "Drop it there: SELECT pg_drop_replication_slot('headrace_x_f1')",
        )
    ]
    event = reads.audit()[0]
    assert (event.event, event.object_type, event.details["slot"]) == (
        "drop",
        "feed",
        "headrace_x_f1",
    )


def test_a_table_stays_readable_from_its_first_time_on(run: Run) -> None:
    """A feed that starts again catches up, and then tells of a later beginning."""
    run(SETUP)
    for report in (
        ExportReport("u2", "running", "running", readable_from=5),
        ExportReport("u2", "starting", "catch up"),
        ExportReport("u2", "running", "running", readable_from=90),
    ):
        write_reports(REGION, (FeedReport("f1", "running"), report))
        table = reads.table("u2")
        assert table is not None
        assert table.readable_from == 5


def test_no_session_reads_older_than_another_has_seen(run: Run) -> None:
    """Two feeds, one of them behind: strict reads wait for it, serializable ones do not."""
    run(
        "CREATE SOURCE one FROM LOAD GENERATOR AUCTION; CREATE TABLE a FROM SOURCE one "
        "(REFERENCE bids); CREATE SOURCE two FROM LOAD GENERATOR COUNTER; "
        "CREATE TABLE b FROM SOURCE two (REFERENCE counter)"
    )
    entries = {e.name: e for e in snapshot.current(REGION).entries.values()}
    for feed, table, time in (("f1", entries["a"], 100), ("f2", entries["b"], 90)):
        write_reports(
            REGION,
            (
                FeedReport(feed, "running", complete_through=time, upto=time),
                ExportReport(table.id, "running", "running", readable_from=5),
            ),
        )

    def time_of(name: str, isolation: str = "strict serializable") -> object:
        session = Session("ada@example.com", REGION)
        text = (
            f"SET transaction_isolation = '{isolation}'; SET statement_timeout = '100ms'; "
            f"EXPLAIN TIMESTAMP FOR SELECT * FROM {name}"
        )
        *_, answer = session.execute(text)
        return rows_of(answer)[0][0]

    assert time_of("a") == 100
    with pytest.raises(Transient, match="statement timeout"):
        time_of("b")
    assert time_of("b", "serializable") == 90
    write_reports(REGION, (FeedReport("f2", "running", complete_through=101, upto=101),))
    assert time_of("b") == 101
