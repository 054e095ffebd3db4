"""CREATE, ALTER, DROP and SHOW through the door, on load generators and the test database."""

from __future__ import annotations

import pytest

from catalog import snapshot
from catalog.errors import DependentItems, DuplicateItem, UnknownItem, WrongItemType
from catalog.models import AuditEvent, Feed, Item, Job, SourceReference
from catalog.session import Session
from tests.catalog.session.conftest import Run, rows_of, tag_of

AUCTION = "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')"
BIDS = "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)"


def test_source_and_table(run: Run) -> None:
    assert [tag_of(result) for result in run(f"{AUCTION}; {BIDS}")] == [
        "CREATE SOURCE",
        "CREATE TABLE",
    ]
    assert list(Item.objects.values_list("gid", "name")) == [("u1", "house"), ("u2", "bids")]
    entry = snapshot.current("local/embedded").entries["u2"]
    assert entry.table.source == "u1"
    assert entry.table.namespace == "auction"
    assert "id" in entry.relation.names
    assert SourceReference.objects.filter(source__name="house").count() == 5
    assert rows_of(run("SHOW TABLES ON house")[0]) == [("bids", "")]
    events = AuditEvent.objects.order_by("number").values_list("event", "object_type", "number")
    assert list(events) == [("create", "source", 1), ("create", "table", 2)]


def test_ids_are_never_reused(run: Run) -> None:
    run(AUCTION)
    run("DROP SOURCE house")
    run(AUCTION)
    assert Item.objects.get(name="house").gid == "u2"


def test_restrict_and_cascade(run: Run) -> None:
    run(f"{AUCTION}; {BIDS}")
    with pytest.raises(DependentItems) as caught:
        run("DROP SOURCE house")
    expected = 'cannot drop source "house": still depended upon by table "bids"'
    assert caught.value.message == expected
    run("DROP SOURCE house CASCADE")
    assert not Item.objects.exists()
    assert Feed.objects.get().desired == "dropped"
    assert Job.objects.filter(kind="drop shard").count() == 1


def test_duplicates_and_if_not_exists(run: Run) -> None:
    run(AUCTION)
    with pytest.raises(DuplicateItem, match=r'source "headrace.public.house" already exists'):
        run(AUCTION)
    (done,) = run(AUCTION.replace("SOURCE house", "SOURCE IF NOT EXISTS house"))
    assert done.notices[0].message == 'source "house" already exists, skipping'


def test_unknown_names(run: Run) -> None:
    with pytest.raises(UnknownItem, match="unknown catalog item 'nope'") as caught:
        run("DROP SOURCE nope")
    assert caught.value.position == 12
    with pytest.raises(UnknownItem, match="unknown schema 'nope'"):
        run("CREATE SECRET nope.s AS 'x'")
    with pytest.raises(UnknownItem, match="unknown database 'nope'"):
        run("CREATE SECRET nope.public.s AS 'x'")
    (done,) = run("DROP SOURCE IF EXISTS nope")
    assert done.notices[0].message == 'source "nope" does not exist, skipping'


def test_wrong_kind(run: Run) -> None:
    run(f"{AUCTION}; {BIDS}")
    with pytest.raises(WrongItemType, match="bids is a table not a source"):
        run("DROP SOURCE bids")


def test_rename_rewrites_dependents(run: Run) -> None:
    run(f'{AUCTION}; {BIDS}; ALTER SOURCE house RENAME TO "Haus"')
    (shown,) = run("SHOW CREATE TABLE bids")
    assert 'FROM SOURCE headrace.public."Haus"' in str(rows_of(shown)[0][1])
    assert Item.objects.get(name="Haus").gid == "u1"


def test_secrets_are_not_shown(run: Run) -> None:
    run("CREATE SECRET pw AS 'hunter2'")
    (shown,) = run("SHOW CREATE SECRET pw")
    assert "hunter2" not in str(rows_of(shown))
    assert "hunter2" not in str(list(AuditEvent.objects.values()))


def test_transaction_is_one_commit(session: Session, run: Run) -> None:
    run("BEGIN")
    assert session.transaction_status == "T"
    run(AUCTION)
    run(BIDS)
    run("CREATE TABLE bids2 FROM SOURCE house (REFERENCE auction.bids)")
    assert not Item.objects.exists()
    before = snapshot.current("local/embedded").revision
    run("COMMIT")
    assert session.transaction_status == "I"
    picture = snapshot.current("local/embedded")
    assert picture.revision == before + 1
    first, second = picture.entries["u2"].table, picture.entries["u3"].table
    assert first.snapshot_group == second.snapshot_group


def test_failed_transaction(session: Session, run: Run) -> None:
    run("BEGIN")
    with pytest.raises(UnknownItem):
        run("DROP SECRET nope")
    assert session.transaction_status == "E"
    with pytest.raises(Exception, match="current transaction is aborted") as caught:
        run("SHOW database")
    assert caught.value.sqlstate == "25P02"  # type: ignore[attr-defined]
    assert tag_of(run("COMMIT")[0]) == "ROLLBACK"
    assert session.transaction_status == "I"


def test_transaction_replans_once_when_the_catalog_moved(run: Run, db: None) -> None:
    other = Session("ada@example.com")
    run(AUCTION)
    run("BEGIN")
    run(BIDS)
    list(other.execute("CREATE SECRET s AS 'x'"))
    run("COMMIT")
    gids = dict(Item.objects.values_list("name", "gid"))
    assert gids == {"house": "u1", "s": "u2", "bids": "u3"}


def test_variables(run: Run) -> None:
    run("CREATE SCHEMA other; SET search_path = other; CREATE SECRET s AS 'x'")
    assert Item.objects.get().schema.name == "other"
    assert rows_of(run("SHOW search_path")[0]) == [("other",)]
    with pytest.raises(UnknownItem, match='unrecognized configuration parameter "nope"'):
        run("SET nope = 1")


def test_schema_with_items_needs_cascade(run: Run) -> None:
    run("CREATE SCHEMA other; CREATE SECRET other.s AS 'x'")
    with pytest.raises(DependentItems, match="cannot be dropped without CASCADE"):
        run("DROP SCHEMA other")
    run("DROP SCHEMA other CASCADE")
    assert not Item.objects.exists()


def test_definitions_of_one_text_stand_or_fall_together(session: Session, run: Run) -> None:
    with pytest.raises(UnknownItem):
        run(f"{AUCTION}; CREATE TABLE x FROM SOURCE house (REFERENCE nope)")
    assert not Item.objects.exists()
    assert session.transaction_status == "I"
    run(f"{AUCTION}; {BIDS}; CREATE TABLE again FROM SOURCE house (REFERENCE bids)")
    picture = snapshot.current("local/embedded")
    groups = {entry.table.snapshot_group for entry in picture.tables_of("u1")}
    assert len(groups) == 1


def test_mixed_texts_run_one_by_one(run: Run) -> None:
    with pytest.raises(UnknownItem):
        run(f"{AUCTION}; SHOW TABLES; DROP SOURCE nope")
    assert Item.objects.get().name == "house"
