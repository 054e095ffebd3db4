"""The worker's tasks go through every region."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from catalog import leases, planes
from catalog.control import upkeep
from catalog.desired import dropped_feeds
from catalog.migrate import rollout
from catalog.models import Job, Region
from catalog.session import Session, role_for
from console import worker
from ingest import delta, engine
from ingest.contract.commands import Feed
from ingest.contract.plane import Plane

OWN, OTHER = "local/embedded", "aws/us-east-1"
MADE = "CREATE SOURCE ticks FROM LOAD GENERATOR COUNTER"


@pytest.fixture
def two(db: None) -> None:
    """Two regions with a feed f1 each."""
    rollout.enable_region("aws", "us-east-1", "ada")
    for region in (OWN, OTHER):
        _run(region, MADE)


def test_feeds_of_one_name(two: None) -> None:
    assert list(worker._feeds()) == [(OWN, "f1"), (OTHER, "f1")]


def test_jobs_of_one_name_are_two(two: None) -> None:
    for region in (OWN, OTHER):
        assert upkeep._claimed(region, "apply", "f1") is not None
    assert upkeep._claimed(OTHER, "apply", "f1") is None
    assert Job.objects.filter(subject="f1").count() == 2


def test_leases_are_the_regions_own(two: None) -> None:
    assert leases.acquire_feed(OWN, "f1", "a:1:x") == 1
    assert leases.acquire_feed(OTHER, "f1", "b:1:y") == 1
    leases.release_feed(OTHER, "f1", "b:1:y")
    assert leases.renew_feed(OWN, "f1", "a:1:x", 1)
    assert not leases.renew_feed(OTHER, "f1", "b:1:y", 1)


def test_two_threads_of_a_worker_do_not_do_one_job(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = Region.objects.get(name=OWN)
    job = Job.objects.create(region=region, kind="drop shard", subject="s1", due_at=timezone.now())
    dropped: list[str] = []

    def drop(plane: Plane, shard: str) -> bool:
        dropped.append(shard)
        upkeep.run_job(job.pk)
        return False

    monkeypatch.setattr(engine, "drop_shard", drop)
    upkeep.run_job(job.pk)
    assert dropped == ["s1"]
    assert not Job.objects.filter(pk=job.pk).exists()


def test_a_feed_is_not_dropped_while_its_log_is_compacted(two: None) -> None:
    """What compaction had written after the log was deleted would have stayed for ever."""
    _run(OWN, "DROP SOURCE ticks CASCADE")
    compaction = upkeep._claimed(OWN, "compact", "f1")
    assert compaction is not None
    upkeep.drop_feed(OWN, "f1")
    assert dropped_feeds(OWN) == ("f1",)
    upkeep._done(compaction)
    upkeep.drop_feed(OWN, "f1")
    assert dropped_feeds(OWN) == ()
    assert not Job.objects.filter(subject="f1").exists()


def test_a_log_is_not_compacted_while_its_feed_is_dropped(
    two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(OWN, "DROP SOURCE ticks CASCADE")
    dropped, compacted = [], []

    def drop(plane: Plane, feed: Feed) -> None:
        dropped.append(feed.id)
        upkeep.compact_feed(OWN, feed.id)

    monkeypatch.setattr(engine, "drop_feed", drop)
    monkeypatch.setattr(engine, "compact", lambda *arguments: compacted.append(arguments))
    upkeep.drop_feed(OWN, "f1")
    assert (dropped, compacted) == (["f1"], [])


def test_a_shard_that_is_written_after_it_was_dropped(db: None) -> None:
    """A fold or a hydration that had begun makes the folder again; it is deleted as well."""
    region = Region.objects.get(name=OWN)
    job = Job.objects.create(region=region, kind="drop shard", subject="s1", due_at=timezone.now())
    folder = Path(delta.base_path(planes.plane_of(OWN), "s1"))
    for _ in range(2):
        (folder / "_delta_log").mkdir(parents=True)
        upkeep.run_job(job.pk)
        assert not folder.exists()
        assert upkeep.due_jobs(OWN) == ()
        assert Job.objects.filter(pk=job.pk).update(due_at=timezone.now()) == 1
    upkeep.run_job(job.pk)
    assert not Job.objects.filter(pk=job.pk).exists()


def _run(region: str, sql: str) -> None:
    list(Session(role_for(region, "ada@example.com", superuser=True), region).execute(sql))
