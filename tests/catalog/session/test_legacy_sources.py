"""Sources of the older form, while the region's flags allow them."""

from __future__ import annotations

import re

import pytest

from catalog import desired, snapshot
from catalog.plan import plan
from catalog.plan.picture import Entry
from catalog.plan.plans import Follow
from catalog.plan.scope import Scope
from catalog.results import Done
from catalog.session import Session, role_for
from catalog.sql.parse import parse_one
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of, run, session

__all__ = ["run", "session"]
REGION = "local/embedded"
LEGACY = "ALTER SYSTEM SET force_source_table_syntax = off"
ONLY_LEGACY = f"{LEGACY}; ALTER SYSTEM SET enable_create_table_from_source = off"
AUCTION = "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')"
COUNTER = "CREATE SOURCE counter FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')"
INSTEAD = "not supported; use CREATE TABLE .. FROM SOURCE instead"


def refused(message: str) -> pytest.RaisesExc[HeadraceError]:
    return pytest.raises(HeadraceError, match=re.escape(message))


def entry(name: str) -> Entry:
    return snapshot.current(REGION).by_path["headrace", "public", name]


def names() -> list[tuple[str, str]]:
    return [(e.kind, e.name) for e in snapshot.current(REGION).entries.values()]


def shown(run: Run, sql: str) -> list[tuple[object, ...]]:
    (result,) = run(sql)
    return rows_of(result)


@pytest.mark.parametrize(
    ("sql", "message", "position"),
    [
        (f"{AUCTION} FOR ALL TABLES", f"FOR ALL TABLES {INSTEAD}", 69),
        (f"{AUCTION} FOR TABLES (bids)", f"FOR TABLES {INSTEAD}", 69),
        (f"{AUCTION} FOR SCHEMAS (auction)", f"FOR SCHEMAS {INSTEAD}", 69),
        (f"{COUNTER} EXPOSE PROGRESS AS p", f"EXPOSE PROGRESS AS {INSTEAD}", None),
        (
            "CREATE SOURCE s FROM POSTGRES CONNECTION pg (TEXT COLUMNS (a.b), PUBLICATION 'p')",
            f"TEXT COLUMNS {INSTEAD}",
            45,
        ),
        (
            "CREATE SOURCE s FROM POSTGRES CONNECTION pg (EXCLUDE COLUMNS (a.b))",
            f"EXCLUDE COLUMNS {INSTEAD}",
            45,
        ),
        ("ALTER SOURCE house ADD SUBSOURCE bids", f"ALTER SOURCE .. ADD SUBSOURCE {INSTEAD}", 13),
        ("ALTER SOURCE house DROP SUBSOURCE b", f"ALTER SOURCE .. DROP SUBSOURCE {INSTEAD}", 13),
    ],
)
def test_forced(run: Run, sql: str, message: str, position: int | None) -> None:
    with pytest.raises(HeadraceError) as caught:
        run(sql)
    assert (caught.value.message, caught.value.sqlstate) == (message, "0A000")
    if position is not None:
        assert caught.value.position == position


def test_all_tables(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR ALL TABLES")
    found = names()
    assert found[:2] == [("source", "house"), ("source", "house_progress")]
    assert {name for _, name in found[2:]} == {
        "accounts",
        "auctions",
        "bids",
        "organizations",
        "users",
    }
    bids = entry("bids")
    assert bids.fed
    assert bids.needs == (entry("house").id,)
    assert shown(run, "SHOW SOURCES LIKE '%s%'")[:2] == [
        ("accounts", "subsource", "quickstart", ""),
        ("auctions", "subsource", "quickstart", ""),
    ]
    assert shown(run, "SHOW SUBSOURCES ON house LIKE '%o%'") == [
        ("accounts", "subsource"),
        ("auctions", "subsource"),
        ("house_progress", "progress"),
        ("organizations", "subsource"),
    ]
    feed = desired.feed_command(REGION, entry("house").source.feed)
    assert feed is not None
    assert sorted(export.name for export in feed.exports) == sorted(n for _, n in found[2:])


def test_shown_as_sql(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids AS offers, auction.auctions)")
    ((_, source),) = shown(run, "SHOW CREATE SOURCE house")
    assert source == (
        "CREATE SOURCE headrace.public.house FROM LOAD GENERATOR AUCTION (TICK INTERVAL = '1s') "
        "FOR TABLES (auction.bids AS headrace.public.offers, "
        "auction.auctions AS headrace.public.auctions) "
        "EXPOSE PROGRESS AS headrace.public.house_progress"
    )
    ((_, progress),) = shown(run, "SHOW CREATE SOURCE house_progress")
    assert progress == (
        'CREATE SUBSOURCE headrace.public.house_progress ("offset" uint8 NOT NULL) '
        "OF SOURCE headrace.public.house WITH (PROGRESS = true)"
    )
    ((_, offers),) = shown(run, "SHOW CREATE SOURCE offers")
    assert str(offers).startswith("CREATE SUBSOURCE headrace.public.offers (id bigint NOT NULL, ")
    assert str(offers).endswith(
        "OF SOURCE headrace.public.house WITH (EXTERNAL REFERENCE = auction.bids)"
    )
    with pytest.raises(HeadraceError, match="CREATE SUBSOURCE statements cannot be executed"):
        run(str(offers))


def test_in_the_system_catalog(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids); {COUNTER}")
    assert shown(run, "SELECT name, type FROM mz_sources ORDER BY id") == [
        ("house", "load-generator"),
        ("house_progress", "progress"),
        ("bids", "subsource"),
        ("counter", "load-generator"),
        ("counter_progress", "progress"),
    ]
    assert shown(run, "SELECT count(*) FROM mz_tables WHERE id LIKE 'u%'") == [(0,)]
    assert shown(
        run,
        "SELECT o.name, r.name AS needs FROM mz_internal.mz_object_dependencies d"
        " JOIN mz_objects o ON o.id = d.object_id JOIN mz_objects r ON r.id ="
        " d.referenced_object_id WHERE o.id LIKE 'u%' ORDER BY 1",
    ) == [("bids", "house"), ("counter_progress", "counter"), ("house_progress", "house")]
    assert shown(run, "SELECT name, type FROM mz_internal.mz_source_statuses ORDER BY id") == [
        ("house", "load-generator"),
        ("bids", "subsource"),
        ("counter", "load-generator"),
    ]
    audit = "SELECT object_type FROM mz_audit_events WHERE event_type = 'create'"
    assert shown(run, audit) == [("source",)] * 5


def test_progress_is_read(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR ALL TABLES EXPOSE PROGRESS AS how_far; {COUNTER}")
    assert shown(run, 'SELECT "offset" FROM how_far') == [(0,)]
    assert shown(run, 'SELECT "offset" FROM counter_progress') == [(0,)]


def test_one_output_is_the_source_itself(run: Run) -> None:
    run(LEGACY)
    run(COUNTER)
    counter = entry("counter")
    assert counter.fed
    assert counter.relation.names == ("counter",)
    feed = desired.feed_command(REGION, counter.source.feed)
    assert feed is not None
    assert [export.table for export in feed.exports] == [counter.id]
    run("CREATE VIEW v AS SELECT counter + 1 AS n FROM counter")
    run("CREATE TABLE again FROM SOURCE counter (REFERENCE counter)")
    feed = desired.feed_command(REGION, counter.source.feed)
    assert feed is not None
    assert [export.table for export in feed.exports] == [counter.id, entry("again").id]
    with pytest.raises(HeadraceError, match="FOR ALL TABLES is only valid for multi-output"):
        run("CREATE SOURCE c FROM LOAD GENERATOR COUNTER FOR ALL TABLES")
    with refused("force_source_table_syntax cannot be turned on: 2 objects to migrate"):
        run("ALTER SYSTEM SET force_source_table_syntax = on")
    with refused("2 objects to migrate"):
        run("ALTER SYSTEM RESET force_source_table_syntax")
    run("DROP SOURCE counter CASCADE; ALTER SYSTEM RESET force_source_table_syntax")
    run("CREATE SOURCE plain FROM LOAD GENERATOR COUNTER")
    assert not entry("plain").fed


def test_both_forms_side_by_side(run: Run) -> None:
    run(LEGACY)
    run(AUCTION)
    assert names() == [("source", "house"), ("source", "house_progress")]
    run("CREATE TABLE bids FROM SOURCE house (REFERENCE bids)")
    run("ALTER SOURCE house ADD SUBSOURCE bids AS old_bids")
    feed = desired.feed_command(REGION, entry("house").source.feed)
    assert feed is not None
    assert [export.name for export in feed.exports] == ["bids", "bids"]


def test_only_the_older_form(run: Run) -> None:
    run(ONLY_LEGACY)
    with pytest.raises(HeadraceError, match="missing TABLES specification"):
        run(AUCTION)
    run(COUNTER)
    run(f"{AUCTION} FOR SCHEMAS (auction)")
    with pytest.raises(
        HeadraceError, match=re.escape("CREATE TABLE .. FROM SOURCE is not available")
    ):
        run("CREATE TABLE b FROM SOURCE house (REFERENCE bids)")


def test_subsources_come_and_go(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids)")
    (added,) = run("ALTER SOURCE house ADD SUBSOURCE users, auction.accounts AS who")
    assert isinstance(added, Done)
    assert added.tag == "ALTER SOURCE"
    assert "auction.users AS headrace.public.users" in entry("house").create_sql
    with pytest.raises(
        HeadraceError, match=re.escape("another subsource already refers to auction.users")
    ):
        run("ALTER SOURCE house ADD SUBSOURCE users AS more")
    with pytest.raises(HeadraceError, match="already exists"):
        run("ALTER SOURCE house ADD SUBSOURCE auctions AS who")
    run("ALTER SOURCE house DROP SUBSOURCE users")
    assert "auction.users" not in entry("house").create_sql
    run("CREATE VIEW v AS SELECT id FROM who")
    with pytest.raises(HeadraceError, match="still depended upon by view"):
        run("ALTER SOURCE house DROP SUBSOURCE who")
    run("ALTER SOURCE house DROP SUBSOURCE IF EXISTS who, nope CASCADE")
    assert [name for _, name in names()] == ["house", "house_progress", "bids"]
    run("DROP SOURCE bids")
    with pytest.raises(HeadraceError, match="house_progress is not a subsource of house"):
        run("ALTER SOURCE house DROP SUBSOURCE house_progress")
    with pytest.raises(HeadraceError, match="is not a multi-output source"):
        run(f"{COUNTER}; ALTER SOURCE counter ADD SUBSOURCE counter AS c")


def test_dropping(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids); {COUNTER}")
    with pytest.raises(HeadraceError) as caught:
        run("DROP SOURCE house")
    assert caught.value.message == (
        'cannot drop source "house": still depended upon by source "bids"'
    )
    with pytest.raises(HeadraceError, match='still depended upon by source "house"'):
        run("DROP SOURCE house_progress")
    with pytest.raises(HeadraceError, match="bids is a source not a table"):
        run("DROP TABLE bids")
    run("DROP SOURCE counter")
    run("DROP SOURCE house CASCADE")
    assert names() == []


def test_names_that_are_taken(run: Run) -> None:
    run(LEGACY)
    run("CREATE SECRET house_progress AS 'x'")
    run(f"{AUCTION} FOR TABLES (bids)")
    assert ("source", "house_progress_1") in names()
    other = AUCTION.replace("house", "other")
    with pytest.raises(
        HeadraceError, match=re.escape('source "headrace.public.bids" already exists')
    ):
        run(f"{other} FOR TABLES (bids)")
    with pytest.raises(
        HeadraceError, match=re.escape("multiple subsources would be named headrace.public.x")
    ):
        run(f"{other} FOR TABLES (users AS x, auctions AS x)")
    with pytest.raises(
        HeadraceError, match=re.escape("multiple subsources refer to table auction.users")
    ):
        run(f"{other} FOR TABLES (users AS x, auction.users AS y)")
    with pytest.raises(HeadraceError, match="reference nope not found in source"):
        run(f"{other} FOR TABLES (nope)")
    with pytest.raises(HeadraceError, match="schema nope not found in source"):
        run(f"{other} FOR SCHEMAS (nope)")
    assert ("source", "other") not in names()


def test_renaming(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids)")
    run("ALTER SOURCE bids RENAME TO offers; ALTER SOURCE house_progress RENAME TO far")
    text = entry("house").create_sql
    assert "AS headrace.public.offers" in text
    assert "EXPOSE PROGRESS AS headrace.public.far" in text
    run("ALTER SOURCE house RENAME TO place")
    assert "OF SOURCE headrace.public.place" in entry("offers").create_sql


def test_subsources_are_not_written(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids)")
    with pytest.raises(HeadraceError, match="cannot insert into non-writeable table 'bids'"):
        run("INSERT INTO bids VALUES (1)")
    with pytest.raises(HeadraceError, match="bids is a subsource"):
        run("CREATE TABLE t FROM SOURCE bids (REFERENCE bids)")


def test_views_and_subscriptions_read_them(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR TABLES (bids); {COUNTER}; CREATE SOURCE w FROM WEBHOOK BODY FORMAT TEXT")
    run(
        "CREATE MATERIALIZED VIEW best AS "
        "SELECT auction_id, max(amount) AS most FROM bids GROUP BY 1"
    )
    run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM counter")
    run("CREATE MATERIALIZED VIEW words AS SELECT body FROM w")
    assert not entry("best").view.sealed
    with refused("materialized views over the progress of a source are not supported yet"):
        run("CREATE MATERIALIZED VIEW far AS SELECT * FROM house_progress")
    for name in ("bids", "counter", "w"):
        planned = plan(
            parse_one(f"SUBSCRIBE {name}").statement, Scope(snapshot.current(REGION), "x")
        )
        assert isinstance(planned, Follow)
        assert planned.entry == entry(name)
    with refused("still depended upon by materialized view"):
        run("DROP SOURCE w")


def test_only_the_owner_adds_subsources(run: Run) -> None:
    run(LEGACY)
    run(f"{AUCTION} FOR ALL TABLES; DROP SOURCE bids")
    other = Session(role_for(REGION, "eve@example.com", superuser=False), REGION)
    for sql in ("ADD SUBSOURCE bids", "DROP SUBSOURCE users"):
        with refused("must be owner of SOURCE house"):
            list(other.execute(f"ALTER SOURCE house {sql}"))
