"""What SHOW, comments and the system catalog tell of views and replacements."""

from __future__ import annotations

import pytest

from catalog.models import ViewProgress
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of
from tests.catalog.session.replacing import AUCTION, MV, RP, entry, events


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
