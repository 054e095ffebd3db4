"""The worker's tasks go through every region."""

from __future__ import annotations

import pytest
from django.utils import timezone

from catalog import leases
from catalog.control import upkeep
from catalog.migrate import rollout
from catalog.models import Job, Region
from catalog.session import Session, role_for
from console import worker
from ingest import engine
from ingest.contract.plane import Plane

OWN, OTHER = "local/embedded", "aws/us-east-1"
MADE = "CREATE SOURCE ticks FROM LOAD GENERATOR COUNTER"


@pytest.fixture
def two(db: None) -> None:
    """Two regions with a feed f1 each."""
    rollout.enable_region("aws", "us-east-1", "ada")
    for region in (OWN, OTHER):
        role = role_for(region, "ada@example.com", superuser=True)
        list(Session(role, region).execute(MADE))


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

    def drop(plane: Plane, shard: str) -> None:
        dropped.append(shard)
        upkeep.run_job(job.pk)

    monkeypatch.setattr(engine, "drop_shard", drop)
    upkeep.run_job(job.pk)
    assert dropped == ["s1"]
    assert not Job.objects.filter(pk=job.pk).exists()
