"""A process that is gone or hangs is noticed, and what it held is taken over."""

from __future__ import annotations

import socket
import subprocess
from datetime import timedelta

from django.utils import timezone

from catalog import leases
from catalog.control.controller import report_silent, report_stopped, write_reports
from catalog.models import Feed, FeedProgress, Job, Region
from ingest.contract.reports import FeedReport
from tests.catalog.session.conftest import Run

REGION = "local/embedded"
SETUP = "CREATE SOURCE ticks FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')"


def status() -> tuple[str, str]:
    return FeedProgress.objects.values_list("status", "error").get()


def dead() -> str:
    """An owner that was a process of this host."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return f"{socket.gethostname()}:{ended.pid}:a"


def test_a_feed_without_a_sign_of_life_says_so(run: Run) -> None:
    run(SETUP)
    leases.acquire_feed(REGION, "f1", "elsewhere:1:a")
    write_reports(REGION, (FeedReport("f1", "running", complete_through=7),))
    report_silent(REGION)
    assert status() == ("running", "")
    Feed.objects.update(lease_expires=timezone.now() + timedelta(seconds=leases.SECONDS - 9))
    report_silent(REGION)
    assert status() == ("stalled", "the feed's process gives no sign of life")
    assert FeedProgress.objects.get().complete_through == 7
    write_reports(REGION, (FeedReport("f1", "running"),))
    assert status() == ("running", "")


def test_a_failure_is_not_talked_over(run: Run) -> None:
    run(SETUP)
    write_reports(REGION, (FeedReport("f1", "failed", error="wrong password"),))
    report_stopped(REGION, "f1", "the feed's process was ended by SIGKILL")
    assert status() == ("failed", "wrong password")


def test_a_lease_that_ran_out_long_ago_is_told_from_a_late_one(run: Run) -> None:
    run(SETUP)
    leases.acquire_feed(REGION, "f1", "elsewhere:1:a")
    Feed.objects.update(lease_expires=timezone.now() - timedelta(seconds=100))
    assert leases.expired_feed(REGION, "f1", "elsewhere:1:a", 90)
    assert not leases.expired_feed(REGION, "f1", "elsewhere:1:a", 110)
    assert not leases.expired_feed(REGION, "f1", "elsewhere:2:b", 90)


def test_a_dead_workers_job_is_taken_at_once(run: Run) -> None:
    region = Region.objects.get(name=REGION)
    job = Job.objects.create(
        region=region, kind="apply", subject="f1", due_at=timezone.now(), lease_owner=""
    )
    assert leases.take_job(job, "elsewhere:1:a", 600)
    assert not leases.take_job(job, "elsewhere:2:b", 600)
    Job.objects.update(lease_owner=dead())
    assert leases.take_job(job, "elsewhere:2:b", 600)
