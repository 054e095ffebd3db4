"""Applies, rollbacks and drops that meet: one wins, the other hears why."""

from __future__ import annotations

import pytest

from catalog.errors import StaleCatalog
from catalog.maintenance.expiring import expire
from catalog.models import Comment, Item, Job, ViewProgress, ViewVersion
from catalog.session import Session, role_for
from ingest.contract.commands import Segment
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run
from tests.catalog.session.replacing import APPLY, AUCTION, MV, RP, apply, entry, events


def test_what_is_no_longer_kept_cannot_come_back(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    apply(run)
    first = ViewVersion.objects.get(number=1)
    ViewVersion.objects.filter(number=1).update(expires_at=first.made_at)
    assert expire("local/embedded") == (first.shard,)
    applied = entry("mv")
    assert applied.view.segments == (Segment(applied.shard, applied.view.segments[0].since),)
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert caught.value.message == 'cannot roll back materialized view "mv"'
    assert "was kept until" in (caught.value.detail or "")
    assert first.create_sql in (caught.value.hint or "")


def test_a_race_with_expiry_is_lost_cleanly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    apply(run)
    first = ViewVersion.objects.get(number=1)

    def meanwhile(*_: object) -> int:
        ViewVersion.objects.filter(number=1).update(shard="")
        return 1

    monkeypatch.setattr("catalog.sequence.switch_time", meanwhile)
    with pytest.raises(StaleCatalog):
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert ViewVersion.objects.count() == 2
    assert entry("mv").shard != first.shard


def test_the_loser_of_two_applies_hears_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its plan and its commit another session applies the same replacement."""
    run(AUCTION)
    run(MV)
    run(RP)
    ViewProgress.objects.update(hydrated=True)
    other = Session(role_for("local/embedded", "ada@example.com", superuser=True))
    first = [True]

    def meanwhile(*_: object) -> int:
        if first and first.pop():
            list(other.execute(APPLY))
        return 1

    monkeypatch.setattr("catalog.sequence.switch_time", meanwhile)
    with pytest.raises(HeadraceError, match="replacement r was applied to mv already"):
        run(APPLY)
    assert ViewVersion.objects.filter(item__name="mv").count() == 2
    assert [event for event, _, _ in events()].count("alter") == 1


def test_show_changes_waits_for_a_common_time(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    ViewProgress.objects.update(hydrated=True, complete_through=5)
    ViewProgress.objects.filter(shard=entry("r").shard).update(complete_through=4)
    run("SET statement_timeout = '100ms'")
    with pytest.raises(HeadraceError) as caught:
        run("SHOW CHANGES FOR REPLACEMENT r")
    assert caught.value.sqlstate == "57014"
    assert caught.value.detail == "mv is complete through 5, r is complete through 4"


def test_a_time_that_was_read_already_is_not_taken(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    ViewProgress.objects.update(hydrated=True, complete_through=9)
    monkeypatch.setattr("catalog.sequence.switch_time", lambda *_: 9)
    with pytest.raises(StaleCatalog) as caught:
        run(APPLY)
    assert caught.value.detail == ("The target is complete through 9, the replacement through 9.")
    assert entry("mv").view.version == 1
    monkeypatch.undo()
    run(APPLY)
    assert entry("mv").view.segments[-1].since == 10


def test_rollback_beside_a_rename_is_refused_rather_than_wrong(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    apply(run)
    with pytest.raises(HeadraceError) as caught:
        run(
            "BEGIN; ALTER TABLE bids RENAME TO offers; "
            "ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT"
        )
    assert caught.value.detail == "unknown catalog item 'headrace.public.bids'"


@pytest.mark.parametrize(
    "drop",
    [
        "DROP SCHEMA s CASCADE",
        "DROP TABLE bids CASCADE",
        "DROP SOURCE house CASCADE",
        "DROP MATERIALIZED VIEW s.r, s.mv",
    ],
)
def test_everything_goes_with_what_it_needs(run: Run, drop: str) -> None:
    run(AUCTION)
    run("CREATE SCHEMA s")
    run(MV.replace("mv", "s.mv"))
    run(RP.replace(" r ", " s.old ").replace("VIEW mv", "VIEW s.mv"))
    apply(run, "ALTER MATERIALIZED VIEW s.mv APPLY REPLACEMENT s.old")
    run(RP.replace(" r ", " s.r ").replace("VIEW mv", "VIEW s.mv"))
    run("COMMENT ON COLUMN s.mv.id IS 'x'")
    shards = set(ViewProgress.objects.values_list("shard", flat=True))
    assert len(shards) == 3
    run(drop)
    assert not Item.objects.filter(kind="materialized view").exists()
    assert not ViewVersion.objects.exists()
    assert not Comment.objects.exists()
    assert shards <= set(Job.objects.values_list("subject", flat=True))
