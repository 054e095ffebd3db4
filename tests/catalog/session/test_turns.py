"""Folds of tables wait for the steps of views."""

from __future__ import annotations

import pytest

from catalog.control import turns
from catalog.models import ViewProgress
from tests.catalog.session.conftest import Run
from tests.catalog.session.replacing import AUCTION, MV, RP, entry

REGION = "local/embedded"


@pytest.fixture
def kept(run: Run) -> None:
    """A view of `bids` that holds everything through 100, and a replacement that is behind."""
    run(AUCTION)
    run(MV)
    run(RP)
    for name, through in (("mv", 100), ("r", 50)):
        shards = ViewProgress.objects.filter(shard=entry(name).shard)
        shards.update(hydrated=True, status="running", complete_through=through)


def _waited(table: str, time: int) -> bool:
    """Whether there was something to wait for."""
    return not turns.after_steps(REGION, entry(table).id, time, patience=0)


def test_a_view_that_is_behind_is_waited_for(kept: None) -> None:
    assert not _waited("bids", 100)
    assert _waited("bids", 101)
    assert not _waited("auctions", 101)


@pytest.mark.parametrize("how", [{"hydrated": False}, {"status": "stalled"}])
def test_one_that_does_not_step_is_not(kept: None, how: dict[str, object]) -> None:
    ViewProgress.objects.filter(shard=entry("mv").shard).update(**how)
    assert not _waited("bids", 101)


def test_it_goes_on_when_the_step_is_there(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 3:
            ViewProgress.objects.update(complete_through=101)

    monkeypatch.setattr("catalog.control.turns.clock.sleep", pause)
    assert turns.after_steps(REGION, entry("bids").id, 101)
    assert len(paused) == 3


def test_views_that_refresh_at_times_of_their_own(run: Run) -> None:
    run(AUCTION)
    run(MV.replace(" AS SELECT", " WITH (REFRESH EVERY '1 hour') AS SELECT"))
    ViewProgress.objects.update(hydrated=True, status="running", complete_through=1)
    assert not _waited("bids", 2)
