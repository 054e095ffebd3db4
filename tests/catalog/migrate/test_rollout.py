"""Cohorts, windows, pauses, crashes between regions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog import snapshot
from catalog.migrate import rollout
from catalog.migrate.apply import apply
from catalog.migrate.store import approve, make_plan
from catalog.models import Migration, Region
from tests.catalog.migrate.corpus import REGION, Corpus, every_kind

USER = "ada@example.com"
OTHER = "aws/us-east-1"


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def regions(db: None) -> tuple[str, str]:
    """Two regions in the old form, approved, in one cohort whose window is open."""
    rollout.enable_region("aws", "us-east-1", USER)
    for region in (REGION, OTHER):
        every_kind(Corpus.empty(region))
        gid = make_plan(region, "sources to tables", USER).number
        approve(region, f"m{gid}", USER)
    rollout.set_cohort("first", (REGION, OTHER))
    now = timezone.now()
    rollout.set_window("first", now - timedelta(minutes=1), now + timedelta(hours=1))
    return REGION, OTHER


def _states() -> list[str]:
    return list(Migration.objects.order_by("pk").values_list("state", flat=True))


def test_each_region_has_a_catalog_of_its_own(regions: tuple[str, str]) -> None:
    apply(OTHER, "m1", USER)
    assert rollout.progress(OTHER).left == 0
    assert rollout.progress(REGION).left == 14
    assert snapshot.current(REGION).flags != snapshot.current(OTHER).flags


def test_what_is_due_is_applied_region_after_region(regions: tuple[str, str]) -> None:
    assert rollout.run_due() == ((REGION, "m1", ""), (OTHER, "m1", ""))
    assert _states() == ["applied", "applied"]
    assert rollout.run_due() == ()


def test_not_before_its_window_and_not_while_paused(regions: tuple[str, str]) -> None:
    rollout.pause_cohort("first", paused=True)
    assert rollout.run_due() == ()
    rollout.pause_cohort("first", paused=False)
    now = timezone.now()
    rollout.set_window("first", now + timedelta(hours=1), now + timedelta(hours=2))
    assert rollout.run_due() == ()
    rollout.set_window("first", now - timedelta(hours=2), now - timedelta(hours=1))
    assert rollout.run_due() == ()
    rollout.set_window("first", None, None)
    assert rollout.run_due() == ()


def test_a_pause_in_the_middle_stops_before_the_next(regions: tuple[str, str]) -> None:
    def at(point: str) -> None:
        if point == "committed":
            rollout.pause_cohort("first", paused=True)

    assert rollout.run_due(at) == ((REGION, "m1", ""),)
    assert _states() == ["applied", "approved"]


def test_a_crash_in_the_middle_is_gone_on_with(regions: tuple[str, str]) -> None:
    def at(point: str) -> None:
        if point == "dependencies":
            raise Crash

    with pytest.raises(Crash):
        rollout.run_due(at)
    assert _states() == ["applying", "approved"]
    over = timezone.now() - timedelta(seconds=1)
    Migration.objects.exclude(lease_owner="").update(lease_expires=over)
    assert rollout.run_due() == ((REGION, "m1", ""), (OTHER, "m1", ""))
    assert _states() == ["applied", "applied"]


def test_one_regions_trouble_leaves_the_others_alone(regions: tuple[str, str]) -> None:
    Migration.objects.filter(region__name=REGION).update(digest="other")
    (first, second) = rollout.run_due()
    assert "changed since migration m1 was planned" in first[2]
    assert second == (OTHER, "m1", "")
    assert Region.objects.count() == 2
