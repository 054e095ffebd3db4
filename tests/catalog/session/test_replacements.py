"""Materialized views and their replacements in the catalog, from CREATE to ROLLBACK."""

from __future__ import annotations

import pytest

from catalog import snapshot
from catalog.bounds import view_bounds
from catalog.errors import StaleCatalog
from catalog.maintenance.expiring import expire
from catalog.models import AuditEvent, Comment, Item, Job, ViewDetails, ViewProgress, ViewVersion
from catalog.plan.picture import Entry, Guard
from catalog.session import Session, role_for
from ingest.contract.commands import Segment
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of, tag_of

AUCTION = """
    CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
    CREATE TABLE bids FROM SOURCE house (REFERENCE bids);
    CREATE TABLE auctions FROM SOURCE house (REFERENCE auctions);
"""
MV = "CREATE MATERIALIZED VIEW mv AS SELECT id, amount FROM bids"
RP = "CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, amount + 1 AS amount FROM bids"
APPLY = "ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT r"


def entry(name: str) -> Entry:
    picture = snapshot.current("local/embedded")
    return next(entry for entry in picture.entries.values() if entry.name == name)


def events() -> list[tuple[str, str, dict[str, object]]]:
    rows = AuditEvent.objects.order_by("number")
    return list(rows.values_list("event", "object_type", "details"))


def apply(run: Run, sql: str = APPLY) -> None:
    """As if the maintainer had computed everything."""
    ViewProgress.objects.update(hydrated=True)
    run(sql)


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


def _applied(run: Run) -> Entry:
    run(AUCTION)
    run(MV)
    run("COMMENT ON MATERIALIZED VIEW mv IS 'prices'")
    run("COMMENT ON COLUMN mv.amount IS 'cents'")
    run("CREATE VIEW v AS SELECT * FROM mv")
    run(
        "CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, amount, item AS thing "
        "FROM bids JOIN auctions USING (id)"
    )
    run("COMMENT ON MATERIALIZED VIEW r IS 'better'")
    before = entry("mv")
    ViewProgress.objects.filter(shard=before.shard).update(hydrated=True, complete_through=500)
    ViewProgress.objects.filter(shard=entry("r").shard).update(
        hydrated=True, complete_through=500, staged_added=3
    )
    run(APPLY)
    return before


def test_apply_keeps_all_but_the_definition(run: Run) -> None:
    before = _applied(run)
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
    before = _applied(run)
    applied = entry("mv")
    ViewProgress.objects.update(complete_through=900)
    run("ALTER MATERIALIZED VIEW mv ROLLBACK REPLACEMENT")
    after = entry("mv")
    assert after.create_sql == before.create_sql
    assert after.relation == before.relation
    assert after.needs == before.needs
    assert after.view.segments == (
        Segment(before.shard, 0),
        Segment(applied.shard, 501),
        Segment(before.shard, 901),
    )
    found = view_bounds("local/embedded", [after])["u4"]
    assert (found.replaced, found.through) == (False, 900)
    assert view_bounds("local/embedded", [applied])["u4"].through == 900
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
    _applied(run)
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


def test_show(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    run("COMMENT ON MATERIALIZED VIEW r IS 'next'")
    assert rows_of(run("SHOW MATERIALIZED VIEWS")[0]) == [
        ("mv", "quickstart", ""),
        ("r", "quickstart", "next"),
    ]
    assert rows_of(run("SHOW CREATE REPLACEMENT r")[0])[0][0] == "headrace.public.r"
    assert rows_of(run("SHOW CREATE MATERIALIZED VIEW mv")[0])[0][1] == entry("mv").create_sql
    with pytest.raises(HeadraceError, match="mv is a materialized view not a replacement"):
        run("SHOW CREATE REPLACEMENT mv")
    with pytest.raises(HeadraceError, match="mv is a materialized view not a replacement"):
        run("DROP REPLACEMENT mv")


def test_show_replacements(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(MV.replace("mv", "other"))
    run(RP)
    run(RP.replace(" r ", " s ").replace("VIEW mv", "VIEW other"))
    run("COMMENT ON MATERIALIZED VIEW r IS 'next'")
    ViewProgress.objects.filter(shard=entry("r").shard).update(
        hydrated=True, staged_added=1, staged_removed=2, staged_changed=3, staged_as_of=7
    )
    r = ("r", "mv", "quickstart", True, 1, 2, 3, "next")
    s = ("s", "other", "quickstart", False, None, None, None, "")
    assert rows_of(run("SHOW REPLACEMENTS")[0]) == [r, s]
    assert rows_of(run("SHOW REPLACEMENTS FOR mv")[0]) == [r]
    assert rows_of(run("SHOW REPLACEMENTS FOR public.other LIKE 's%'")[0]) == [s]
    assert rows_of(run("SHOW REPLACEMENTS WHERE hydrated")[0]) == [r]
    with pytest.raises(HeadraceError, match="unknown catalog item 'nope'"):
        run("SHOW REPLACEMENTS FOR nope")
    with pytest.raises(HeadraceError, match="bids is a table not a materialized view"):
        run("SHOW REPLACEMENTS FOR bids")


def test_comments_are_shown(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("COMMENT ON TABLE bids IS 'offers'")
    run("COMMENT ON COLUMN mv.amount IS 'cents'")
    run("COMMENT ON COLUMN headrace.public.mv.id IS 'it''s one'")
    assert rows_of(run("SHOW TABLES LIKE 'b%'")[0]) == [("bids", "offers")]
    assert rows_of(run("SHOW TABLES WHERE name = 'bids'")[0]) == [("bids", "offers")]
    shown = [("id", True, "bigint", "it's one"), ("amount", True, "integer", "cents")]
    assert rows_of(run("SHOW COLUMNS FROM mv")[0]) == shown
    assert rows_of(run("SHOW COLUMNS FROM mv WHERE true")[0]) == shown
    listed = (
        "SELECT object_type, object_sub_id, comment FROM mz_internal.mz_comments ORDER BY 1, 2"
    )
    assert rows_of(run(listed)[0]) == [
        ("materialized-view", 1, "it's one"),
        ("materialized-view", 2, "cents"),
        ("table", None, "offers"),
    ]
    assert events()[-1] == (
        "comment",
        "materialized-view",
        {
            "id": "u4",
            "database": "headrace",
            "schema": "public",
            "item": "mv",
            "object_sub_id": 1,
            "comment": "it's one",
        },
    )
    run("COMMENT ON COLUMN mv.id IS NULL")
    assert rows_of(run("SHOW COLUMNS FROM mv LIKE 'id'")[0])[0][3] == ""
    with pytest.raises(HeadraceError) as caught:
        run("COMMENT ON COLUMN mv.nope IS 'x'")
    assert caught.value.message == 'column "mv.nope" does not exist'


def test_system_relations(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run("COMMENT ON MATERIALIZED VIEW mv IS 'prices'")
    run(RP)
    progress = ViewProgress.objects.filter(shard=entry("mv").shard)
    progress.update(hydrated=True, readable_from=5, complete_through=9, how="incremental")
    asked = (
        ("SELECT id, name, cluster_id, definition FROM mz_materialized_views WHERE name = 'mv'",
         [("u4", "mv", "u1", "SELECT id, amount FROM headrace.public.bids")]),
        ("SELECT * FROM mz_internal.mz_replacements", [("u5", "u4")]),
        ("SELECT id, target_id FROM mz_replacement_materialized_views", [("u5", "u4")]),
        ("SELECT replacement_id, target_id, hydrated, rows_added, as_of "
         "FROM mz_internal.mz_replacement_statistics", [("u5", "u4", False, None, None)]),
        ("SELECT object_id, hydrated FROM mz_internal.mz_hydration_statuses "
         "WHERE object_id IN ('u4', 'u5') ORDER BY 1", [("u4", True), ("u5", False)]),
        ("SELECT read_frontier, write_frontier FROM mz_internal.mz_frontiers "
         "WHERE object_id = 'u4'", [(5, 10)]),
        ("SELECT complete_through, how, sealed FROM mz_internal.mz_materialized_view_statuses "
         "WHERE name = 'mv'", [(9, "incremental", False)]),
        ("SELECT version, event, kept FROM mz_internal.mz_materialized_view_versions "
         "WHERE id = 'u4'", [(1, "created", True)]),
        ("SELECT type FROM mz_internal.mz_materialized_view_refresh_strategies "
         "WHERE materialized_view_id = 'u4'", [("on-commit",)]),
        ("SELECT relkind FROM pg_class WHERE relname = 'mv'", [("m",)]),
        ("SELECT matviewname, ispopulated FROM pg_matviews ORDER BY 1",
         [("mv", True), ("r", False)]),
        ("SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE relname = 'mv'",
         [("prices",)]),
        ("SELECT table_type FROM information_schema.tables WHERE table_name = 'mv'",
         [("MATERIALIZED VIEW",)]),
        ("SELECT type, cluster_id FROM mz_objects WHERE name = 'r'",
         [("materialized-view", "u1")]),
        ("SELECT count(*) FROM mz_columns WHERE id = 'u5'", [(2,)]),
        ("SELECT referenced_object_id FROM mz_internal.mz_object_dependencies "
         "WHERE object_id = 'u5' ORDER BY 1", [("u2",), ("u4",)]),
    )  # fmt: skip
    for sql, expected in asked:
        assert rows_of(run(sql)[0]) == expected, sql


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
