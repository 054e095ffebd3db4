"""Materialized views and their replacements in the catalog, from CREATE to ROLLBACK."""

from __future__ import annotations

import pytest

from catalog.models import Comment, Item, Job, ViewDetails, ViewProgress, ViewVersion
from catalog.plan.picture import Guard
from catalog.session import Session, role_for
from catalog.time.bounds import view_bounds
from ingest.contract.commands import Segment
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, tag_of
from tests.catalog.session.replacing import APPLY, AUCTION, MV, RP, applied, apply, entry, events


def test_a_view_becomes_rows(run: Run) -> None:
    run(AUCTION)
    (done,) = run(
        "CREATE MATERIALIZED VIEW mv IN CLUSTER quickstart WITH (REFRESH EVERY '1 min', "
        "RETAIN HISTORY FOR '1 day') AS SELECT * FROM bids"
    )
    assert tag_of(done) == "CREATE MATERIALIZED VIEW"
    found = entry("mv")
    assert found.kind == "materialized view"
    assert found.create_sql == (
        "CREATE MATERIALIZED VIEW headrace.public.mv IN CLUSTER quickstart WITH "
        "(REFRESH = EVERY '1 min', RETAIN HISTORY = FOR '1 day') AS SELECT bids.id, bids.buyer, "
        "bids.auction_id, bids.amount, bids.bid_time FROM headrace.public.bids"
    )
    assert found.view.segments == (Segment(found.shard, 0),)
    assert found.view.options == {"refresh every": "60000", "retain history": "86400000"}
    assert not found.view.sealed
    version = ViewVersion.objects.get()
    assert (version.number, version.event, version.until) == (1, "created", 0)
    assert version.needs == list(found.needs)
    progress = ViewProgress.objects.get()
    assert (progress.shard, progress.status, progress.hydrated) == (found.shard, "created", False)
    assert events()[-1] == (
        "create",
        "materialized-view",
        {
            "id": "u4",
            "database": "headrace",
            "schema": "public",
            "item": "mv",
            "cluster_id": "u1",
            "replacement_target_id": None,
        },
    )


def test_views_stack(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("CREATE VIEW v AS SELECT id FROM mv")
    run("CREATE MATERIALIZED VIEW mv2 AS SELECT v.id, a.item FROM v JOIN auctions a USING (id)")
    assert entry("mv2").needs == ("u5", "u3")
    with pytest.raises(HeadraceError) as caught:
        run("DROP MATERIALIZED VIEW mv")
    assert caught.value.message == (
        'cannot drop materialized view "mv": still depended upon by view "v"'
    )
    run("DROP MATERIALIZED VIEW mv CASCADE")
    assert set(Item.objects.values_list("name", flat=True)) == {"house", "bids", "auctions"}
    assert Job.objects.filter(kind="drop shard").count() == 2


@pytest.mark.parametrize("name", ["mz_diff", "mz_timestamp"])
def test_names_of_changes_are_taken(run: Run, name: str) -> None:
    with pytest.raises(HeadraceError, match=f'cannot have a column named "{name}"') as caught:
        run(f"CREATE MATERIALIZED VIEW taken AS SELECT 1 AS {name}")
    assert caught.value.hint == "Give it another name with AS."


def test_a_constant_is_sealed(run: Run) -> None:
    (done,) = run("CREATE MATERIALIZED VIEW c AS SELECT 1 AS a UNION ALL VALUES (2)")
    assert "sealed" in done.notices[0].message
    run("CREATE MATERIALIZED VIEW c2 AS SELECT a FROM c")
    assert entry("c").view.sealed
    assert entry("c2").view.sealed
    run("CREATE REPLACEMENT MATERIALIZED VIEW rc FOR c AS SELECT 3 AS a")
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW c APPLY REPLACEMENT rc")
    assert caught.value.message == "materialized view c is sealed and thus cannot be replaced"
    assert caught.value.detail == (
        "The materialized view has already computed its output until the end of time, "
        "so replacing its definition would have no effect."
    )
    assert caught.value.sqlstate == "55000"


def test_or_replace(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("CREATE OR REPLACE MATERIALIZED VIEW mv AS SELECT id FROM auctions")
    assert entry("mv").id == "u5"
    run("CREATE VIEW v AS SELECT id FROM mv")
    with pytest.raises(HeadraceError, match="still depended upon"):
        run("CREATE OR REPLACE MATERIALIZED VIEW mv AS SELECT id FROM auctions")
    with pytest.raises(HeadraceError, match="v is a view not a materialized view"):
        run("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT id FROM auctions")
    (done,) = run("CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT 1")
    assert done.notices[0].message == 'materialized view "mv" already exists, skipping'


def test_a_replacement_stands_beside(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(
        "CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv WITH (APPLY WHEN HYDRATED, MAX ROWS 10, "
        "MAX PERCENT = 2.5, WINDOW '22:00-04:30') AS SELECT id, amount, buyer FROM bids"
    )
    found = entry("r")
    assert found.view.target == "u4"
    assert found.needs == ("u4", "u2")
    assert found.view.guard == Guard(10, 2.5, (1320, 270))
    assert found.create_sql == (
        "CREATE REPLACEMENT MATERIALIZED VIEW headrace.public.r FOR headrace.public.mv IN CLUSTER "
        "quickstart WITH (APPLY WHEN HYDRATED = true, MAX ROWS = 10, MAX PERCENT = 2.5, "
        "WINDOW = '22:00-04:30') AS SELECT id, amount, buyer FROM headrace.public.bids"
    )
    assert events()[-1][2]["replacement_target_id"] == "u4"
    with pytest.raises(HeadraceError) as caught:
        run("DROP MATERIALIZED VIEW mv")
    assert caught.value.message == (
        'cannot drop materialized view "mv": still depended upon by materialized view "r"'
    )
    run("DROP REPLACEMENT r")
    assert entry("mv").view.segments == (Segment(entry("mv").shard, 0),)
    assert [job.subject for job in Job.objects.all()] == [found.shard]


def test_guards_without_limits(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP.replace(" AS ", " WITH (APPLY WHEN HYDRATED) AS ", 1))
    assert entry("r").view.guard == Guard()
    run(RP.replace(" r ", " s ").replace(" AS ", " WITH (REQUIRE APPROVAL, MAX ROWS 1) AS ", 1))
    assert entry("s").view.guard is None
    with pytest.raises(HeadraceError) as caught:
        run(RP.replace(" r ", " t ").replace(" AS ", " WITH (MAX ROWS 1) AS ", 1))
    assert caught.value.message == "MAX ROWS has no meaning without APPLY WHEN HYDRATED"


def test_apply_keeps_all_but_the_definition(run: Run) -> None:
    before = applied(run)
    after = entry("mv")
    assert (after.id, after.oid, after.owner) == (before.id, before.oid, before.owner)
    assert after.create_sql == (
        "CREATE MATERIALIZED VIEW headrace.public.mv IN CLUSTER quickstart AS SELECT id, amount, "
        "item AS thing FROM headrace.public.bids JOIN headrace.public.auctions USING (id)"
    )
    assert after.relation.names == ("id", "amount", "thing")
    assert after.needs == ("u2", "u3")
    assert after.view.segments == (Segment(before.shard, 0), Segment(after.shard, 501))
    assert not Item.objects.filter(name="r").exists()
    assert not Job.objects.exists()
    assert entry("v").relation.names == ("id", "amount")
    assert list(Comment.objects.values_list("column", "text")) == [(0, "prices"), (2, "cents")]
    progress = ViewProgress.objects.get(shard=after.shard)
    assert (progress.item.gid, progress.staged_added) == ("u4", -1)
    old, new = ViewVersion.objects.order_by("number")
    assert (old.until, new.since, new.until) == (501, 501, 0)
    assert (new.event, new.replacement, new.replacement_name) == (
        "applied",
        "u6",
        "headrace.public.r",
    )
    assert new.user == "ada@example.com"
    assert old.expires_at is not None
    replaced = {"id": "u6", "database": "headrace", "schema": "public", "item": "r"}
    target = {"id": "u4", "database": "headrace", "schema": "public", "item": "mv"}
    assert events()[-2:] == [
        ("drop", "materialized-view", replaced),
        ("alter", "materialized-view", {**target, "replacement": replaced}),
    ]
    with pytest.raises(HeadraceError, match="replacement r was applied to mv already"):
        run(APPLY)


def test_rollback_brings_back_what_was(run: Run) -> None:
    before = applied(run)
    new = entry("mv")
    ViewProgress.objects.update(complete_through=900)
    run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    after = entry("mv")
    assert after.create_sql == before.create_sql
    assert after.relation == before.relation
    assert after.needs == before.needs
    assert after.view.segments == (
        Segment(before.shard, 0),
        Segment(new.shard, 501),
        Segment(before.shard, 901),
    )
    found = view_bounds("local/embedded", [after])["u4"]
    assert (found.replaced, found.through) == (False, 900)
    assert view_bounds("local/embedded", [new])["u4"].through == 900
    assert view_bounds("local/embedded", [before])["u4"].replaced
    third = ViewVersion.objects.get(number=3)
    assert (third.event, third.shard, third.until) == ("undone", before.shard, 0)
    assert events()[-1][:2] == ("alter", "materialized-view")
    assert events()[-1][2]["rollback_replacement"] == {"version": 1}
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert caught.value.message == (
        'materialized view "mv" has no applied replacement to roll back'
    )
    assert caught.value.sqlstate == "55000"


def test_rollback_twice_goes_two_definitions_back(run: Run) -> None:
    run(AUCTION)
    run(MV)
    first = entry("mv").create_sql
    run(RP)
    apply(run)
    second = entry("mv").create_sql
    run(RP.replace("+ 1", "+ 2"))
    apply(run)
    run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert entry("mv").create_sql == second
    run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert entry("mv").create_sql == first
    with pytest.raises(HeadraceError, match="no applied replacement"):
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")


def test_rollback_after_renames(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    apply(run)
    run("ALTER TABLE bids RENAME TO offers")
    run("ALTER MATERIALIZED VIEW mv RENAME TO prices")
    run("ALTER MATERIALIZED VIEW prices ROLLBACK REPLACEMENT")
    assert entry("prices").create_sql == (
        "CREATE MATERIALIZED VIEW headrace.public.prices IN CLUSTER quickstart AS "
        "SELECT id, amount FROM headrace.public.offers AS bids"
    )


def test_rollback_is_refused_when_something_needs_the_new_columns(run: Run) -> None:
    applied(run)
    run("CREATE VIEW w AS SELECT thing FROM mv")
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert caught.value.message == (
        'cannot roll back materialized view "mv": still depended upon by view "w"'
    )
    assert caught.value.detail == ('view "headrace.public.w": column "thing" does not exist')


def test_rollback_is_refused_when_what_it_reads_is_gone(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, 1 AS amount FROM auctions")
    apply(run)
    run("DROP TABLE bids")
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    assert caught.value.detail == "Something that the definition before reads was dropped."


def test_new_columns_do_not_change_dependents(run: Run) -> None:
    run(AUCTION)
    run("CREATE MATERIALIZED VIEW mv AS SELECT id FROM bids")
    run("CREATE VIEW w AS SELECT item FROM mv, auctions")
    run("CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, 'x' AS item FROM bids")
    with pytest.raises(HeadraceError) as caught:
        run(APPLY)
    assert caught.value.message == (
        'cannot replace materialized view "mv": still depended upon by view "w"'
    )
    assert caught.value.detail == (
        'view "headrace.public.w": column reference "item" is ambiguous'
    )


def test_only_owners_apply(session: Session, run: Run) -> None:
    run(AUCTION)
    run(MV)
    other = Session(role_for("local/embedded", "bob@example.com", superuser=False))
    list(other.execute(RP))
    with pytest.raises(HeadraceError) as caught:
        list(other.execute(APPLY))
    assert caught.value.message == "must be owner of MATERIALIZED VIEW mv"
    with pytest.raises(HeadraceError, match="must be owner"):
        list(other.execute("COMMENT ON MATERIALIZED VIEW mv IS 'mine'"))


def test_the_flag(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("ALTER SYSTEM SET enable_replacement_materialized_views = off")
    with pytest.raises(HeadraceError) as caught:
        run(RP)
    assert caught.value.sqlstate == "0A000"
    run("ALTER SYSTEM RESET enable_replacement_materialized_views")
    run(RP)


def test_several_replacements_in_one_transaction(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    run(RP.replace(" r ", " s ").replace("+ 1", "+ 2"))
    ViewProgress.objects.update(hydrated=True)
    run(f"BEGIN; {APPLY}; ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT s; COMMIT")
    assert ViewVersion.objects.filter(item__name="mv").count() == 3
    assert "+ 2" in entry("mv").create_sql
    assert ViewDetails.objects.count() == 1
