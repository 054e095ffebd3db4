"""Where regions' data is, and which region is meant."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import drafts, reads
from catalog.errors import UnknownItem
from catalog.here import region_here, within
from catalog.migrate import regions, rollout
from catalog.models import User
from catalog.planes import plane_of
from catalog.regions import region_named, region_names
from catalog.urls import webhook_url
from ingest.contract.plane import Plane

pytestmark = pytest.mark.django_db
OWN, OTHER = "local/embedded", "aws/us-east-1"


@pytest.fixture(autouse=True)
def _plane(settings: Any) -> None:
    settings.HEADRACE_PLANE = Plane("sc://there:1", "/data")
    settings.HEADRACE_URL = "https://here"


def test_the_first_region_stays_where_it_was() -> None:
    assert plane_of(OWN) == plane_of("") == Plane("sc://there:1", "/data")


def test_another_has_a_folder(settings: Any) -> None:
    rollout.enable_region("aws", "us-east-1", "ada")
    assert plane_of(OTHER) == Plane("sc://there:1", "/data/regions/aws/us-east-1")
    assert regions.region(OTHER).warehouse == "/data/regions/aws/us-east-1"
    settings.HEADRACE_PLANE = Plane("sc://there:2", "s3a://moved/")
    assert plane_of(OTHER) == Plane("sc://there:2", "s3a://moved/regions/aws/us-east-1")


def test_or_a_warehouse_elsewhere() -> None:
    rollout.enable_region("aws", "us-east-1", "ada", "s3a://theirs")
    assert plane_of(OTHER) == Plane("sc://there:1", "s3a://theirs")


def test_names_of_regions() -> None:
    rollout.enable_region("aws", "us-east-1", "ada")
    assert region_names() == (OWN, OTHER)
    assert region_named("aws:us-east-1") == region_named(OTHER) == OTHER
    with pytest.raises(UnknownItem, match='unknown region "aws/mars"') as refused:
        region_named("aws/mars")
    assert refused.value.hint


def test_what_is_asked_without_a_region_is_about_the_chosen_one() -> None:
    rollout.enable_region("aws", "us-east-1", "ada")
    user = User.objects.create(email="ada@example.com")
    assert region_here() == OWN
    with within(OTHER):
        assert region_here() == OTHER
        begun = drafts.create(user, "source")
        assert drafts.open_drafts(user)
        assert reads.items() == ()
    assert drafts.get(user, begun.id) is None
    assert not drafts.open_drafts(user)
    with within("aws/mars", known=False), pytest.raises(UnknownItem):
        reads.items()
    assert region_here() == OWN


def test_addresses_of_webhooks() -> None:
    path = ("headrace", "public", "hook")
    assert webhook_url(path, OWN) == "https://here/api/webhook/headrace/public/hook"
    assert webhook_url(path, OTHER).endswith("/public/hook?region=aws/us-east-1")
