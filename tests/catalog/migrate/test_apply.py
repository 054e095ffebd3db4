"""Applied whole or not at all, and taken back to the byte."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog import snapshot
from catalog.desired import exports_of, sources_of, wanted_feeds
from catalog.errors import InvalidStatement, StaleCatalog
from catalog.migrate.apply import apply
from catalog.migrate.dump import dump
from catalog.migrate.rollback import resume, roll_back, rollback_blockers
from catalog.migrate.store import make_plan
from catalog.models import (
    AuditEvent,
    Comment,
    Dependency,
    Feed,
    Item,
    Migration,
    Region,
    ViewVersion,
)
from catalog.session import Session, role_for
from ingest.errors import HeadraceError
from tests.catalog.migrate.corpus import REGION, Corpus

USER = "ada@example.com"
TABLES = "sources to tables"


class Crash(BaseException):
    """The process ends here."""


def _crash_at(number: int) -> Callable[[str], None]:
    """Tells the points apart, and crashes at the one of that number."""
    passed: list[str] = []

    def at(point: str) -> None:
        passed.append(point)
        if len(passed) == number:
            raise Crash(point)

    return at


def _points(run: Callable[[Callable[[str], None]], object]) -> list[str]:
    passed: list[str] = []
    run(passed.append)
    return passed


def _dead() -> None:
    """Nobody renews a dead process's lease."""
    over = timezone.now() - timedelta(seconds=1)
    Migration.objects.exclude(lease_owner="").update(lease_expires=over)


def _planned() -> str:
    return f"m{make_plan(REGION, TABLES, USER).number}"


def test_applied(corpus: Corpus) -> None:
    gid = _planned()
    before = snapshot.load(REGION)[1]
    done = apply(REGION, gid, USER)
    after = snapshot.load(REGION)[1]
    assert done.state == "applied"
    assert after.flags["force_source_table_syntax"] == "on"
    assert not any("SUBSOURCE" in entry.create_sql for entry in after.entries.values())
    for name in ("orders", "cut", "x", "lineitem", "hooks"):
        old, new = before.entries[corpus.items[name].gid], after.entries[corpus.items[name].gid]
        assert (new.kind, new.path, new.shard) == ("table", old.path, old.shard)
        assert new.relation == old.relation
        assert new.owner == old.owner
    for name in ("counter", "Key Value", "events"):
        source = after.entries[corpus.items[name].gid]
        table = after.by_path["headrace", "public", name]
        old = before.entries[source.id]
        assert (source.kind, source.shard, table.kind) == ("source", "", "table")
        assert (table.shard, table.relation) == (old.shard, old.relation)
        assert table.table.source == source.id
        assert source.path[2].startswith(f"{name}_source")
    assert make_plan(REGION, TABLES, USER).summary["steps"] == 0


def test_feeds_fill_the_same_collections(corpus: Corpus) -> None:
    def shards() -> dict[str, set[str]]:
        picture = snapshot.load(REGION)[1]
        found = {}
        for feed in wanted_feeds(REGION):
            sources = sources_of(picture, feed)
            found[feed] = {export.shard for export in exports_of(picture, sources)}
        return found

    before, feeds = shards(), list(Feed.objects.values_list("gid", "slot", "desired", "epoch"))
    assert sum(map(len, before.values())) == 11
    apply(REGION, _planned(), USER)
    assert shards() == before
    assert list(Feed.objects.values_list("gid", "slot", "desired", "epoch")) == feeds


def test_comments_dependents_and_versions_follow_the_data(corpus: Corpus) -> None:
    apply(REGION, _planned(), USER)
    table = Item.objects.get(name="counter")
    told = Comment.objects.filter(item=table).values_list("column", "text")
    assert sorted(told) == [(0, "counts"), (1, "the number")]
    readers = Dependency.objects.filter(needs=table).values_list("item__name", flat=True)
    assert set(readers) == {"v_counter", "v_both", "mv"}
    source = Item.objects.get(name="counter_source")
    left = Dependency.objects.filter(needs=source).values_list("item__name", flat=True)
    assert set(left) == {"counter", "counter_table", "counter_progress"}
    assert ViewVersion.objects.get(item__name="mv").needs == [table.gid]
    assert Comment.objects.get(item__name="orders").text == "what was ordered"


def test_audited_step_by_step(corpus: Corpus) -> None:
    gid = _planned()
    apply(REGION, gid, USER)
    row = Migration.objects.get()
    events = AuditEvent.objects.filter(details__migration=gid)
    assert events.count() == row.steps.count()
    whole = AuditEvent.objects.filter(object_type="migration").order_by("number")
    assert list(whole.values_list("event", flat=True)) == ["plan", "applying", "applied"]
    numbers = list(AuditEvent.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert [event.event for event in row.events.order_by("pk")] == ["plan", "applying", "applied"]


def test_taken_back_to_the_byte(corpus: Corpus) -> None:
    before = dump(REGION)
    gid = _planned()
    apply(REGION, gid, USER)
    assert dump(REGION) != before
    done = roll_back(REGION, gid, USER)
    assert done.state == "rolled back"
    assert dump(REGION) == before
    apply(REGION, _planned(), USER)


def test_a_crash_at_any_point_of_an_apply(corpus: Corpus) -> None:
    before, gid = dump(REGION), _planned()
    points = _points(lambda at: apply(REGION, gid, USER, at))
    applied = _without_times(dump(REGION))
    roll_back(REGION, gid, USER)
    gid = _planned()
    assert len(points) > 12
    for number, point in enumerate(points, 1):
        with pytest.raises(Crash):
            _begin_or_go_on(apply, gid, _crash_at(number))
        _dead()
        whole = point in {"committed", "told"}
        assert (dump(REGION) == before) is not whole, point
        assert bool(Migration.objects.filter(state="applying")) is not whole
        if whole:
            assert resume(REGION) == ()
            assert _renumbered(_without_times(dump(REGION))) == _renumbered(applied), point
            roll_back(REGION, gid, USER)
            gid = _planned()
    assert dump(REGION) == before


def test_a_crash_at_any_point_of_a_rollback(corpus: Corpus) -> None:
    before, gid = dump(REGION), _planned()
    apply(REGION, gid, USER)
    points = _points(lambda at: roll_back(REGION, gid, USER, at))
    assert len(points) > 12
    gid = _planned()
    apply(REGION, gid, USER)
    for number, point in enumerate(points, 1):
        applied = dump(REGION)
        with pytest.raises(Crash):
            _begin_or_go_on(roll_back, gid, _crash_at(number))
        _dead()
        whole = point in {"committed", "told"}
        assert dump(REGION) == (before if whole else applied), point
        if whole:
            assert resume(REGION) == ()
            gid = _planned()
            apply(REGION, gid, USER)


def _begin_or_go_on(act: Callable[..., object], gid: str, at: Callable[[str], None]) -> object:
    running = Migration.objects.filter(state__in=("applying", "rolling back"))
    return resume(REGION, at) if running else act(REGION, gid, USER, at)


def _without_times(text: str) -> list[str]:
    return [line.partition('"created_at"')[0] for line in text.splitlines()]


def _renumbered(lines: list[str]) -> list[str]:
    """Without ids: new ones are never given twice."""
    return sorted(line.partition('"item":')[0] for line in lines)


def test_an_error_leaves_the_plan_waiting_with_its_reason(corpus: Corpus) -> None:
    before, gid = dump(REGION), _planned()

    def at(point: str) -> None:
        if point == "dependencies":
            raise HeadraceError("the disk is full", hint="Make room.")

    with pytest.raises(HeadraceError):
        apply(REGION, gid, USER, at)
    row = Migration.objects.get()
    assert (row.state, row.error, row.hint) == ("planned", "the disk is full", "Make room.")
    assert dump(REGION) == before
    assert apply(REGION, gid, USER).state == "applied"


def test_a_change_that_matters_asks_for_a_new_plan(corpus: Corpus) -> None:
    gid = _planned()
    Item.objects.filter(name="v_both").delete()
    Region.objects.filter(name=REGION).update(revision=99, stamp="0" * 32)
    with pytest.raises(StaleCatalog, match="changed since migration m1 was planned"):
        apply(REGION, gid, USER)


def test_a_change_that_does_not_matter_is_no_reason_to_stop(corpus: Corpus) -> None:
    gid = _planned()
    session = Session(role_for(REGION, USER, superuser=True))
    list(session.execute("CREATE VIEW later AS SELECT 1 AS one"))
    assert apply(REGION, gid, USER).state == "applied"
    assert {item.name for item in Item.objects.all()} > {"later", "counter_source"}


def test_blocked(corpus: Corpus) -> None:
    Item.objects.filter(name="tpch").update(create_sql="CREATE SOURCE x NONSENSE")
    Region.objects.filter(name=REGION).update(revision=99, stamp="0" * 32)
    with pytest.raises(InvalidStatement, match="has 1 blocker") as failure:
        apply(REGION, _planned(), USER)
    assert failure.value.hint


def test_only_once_and_only_one(corpus: Corpus) -> None:
    gid = _planned()
    with pytest.raises(Crash):
        apply(REGION, gid, USER, _crash_at(1))
    with pytest.raises(InvalidStatement, match="by another process"):
        apply(REGION, gid, USER)
    with pytest.raises(InvalidStatement, match="m1 is applying"):
        _planned()
    _dead()
    resume(REGION)
    with pytest.raises(InvalidStatement, match="m1 is applied"):
        apply(REGION, gid, USER)


def test_one_that_was_overtaken_changes_nothing(corpus: Corpus) -> None:
    gid = _planned()

    def at(point: str) -> None:
        if point == "planned again":
            _dead()
            resume(REGION)

    with pytest.raises(InvalidStatement, match="was taken over by another process"):
        apply(REGION, gid, USER, at)
    assert Migration.objects.get().state == "applied"


class TestWhatCameSince:
    """Between an apply and its rollback."""

    @pytest.fixture
    def gid(self, corpus: Corpus) -> str:
        gid = _planned()
        apply(REGION, gid, USER)
        return gid

    @pytest.fixture
    def session(self, gid: str) -> Session:
        return Session(role_for(REGION, USER, superuser=True))

    def test_new_readers_of_the_data_stay(self, gid: str, session: Session) -> None:
        list(session.execute("CREATE VIEW since AS SELECT id FROM counter"))
        roll_back(REGION, gid, USER)
        picture = snapshot.load(REGION)[1]
        view = picture.by_path["headrace", "public", "since"]
        assert view.needs == (picture.by_path["headrace", "public", "counter"].id,)

    def test_readers_of_the_source_are_in_the_way(self, gid: str, session: Session) -> None:
        list(session.execute('CREATE VIEW since AS SELECT "offset" FROM counter_source'))
        (blocker,) = rollback_blockers(Migration.objects.get())
        assert blocker.name == "headrace.public.since"
        with pytest.raises(InvalidStatement, match="reads the progress of counter_source"):
            roll_back(REGION, gid, USER)
        assert Migration.objects.get().state == "applied"
        list(session.execute("DROP VIEW since"))
        assert roll_back(REGION, gid, USER).state == "rolled back"

    def test_a_dropped_table_stays_dropped(self, gid: str, session: Session) -> None:
        list(session.execute("DROP TABLE cut"))
        list(session.execute("DROP VIEW v_orders"))
        assert roll_back(REGION, gid, USER).state == "rolled back"
        assert not Item.objects.filter(name__in=("cut", "v_orders")).exists()
        assert "SUBSOURCE" in Item.objects.get(name="orders").create_sql

    def test_lost_data_is_in_the_way(self, gid: str, session: Session) -> None:
        list(session.execute('DROP TABLE "Key Value" CASCADE'))
        with pytest.raises(InvalidStatement, match="was dropped since"):
            roll_back(REGION, gid, USER)

    def test_a_renamed_table_is_in_the_way(self, gid: str, session: Session) -> None:
        list(session.execute("ALTER TABLE orders RENAME TO sales"))
        with pytest.raises(InvalidStatement, match="renamed or redefined since"):
            roll_back(REGION, gid, USER)
        list(session.execute("ALTER TABLE sales RENAME TO orders"))
        roll_back(REGION, gid, USER)

    def test_not_after_its_time(self, gid: str) -> None:
        Migration.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        with pytest.raises(InvalidStatement, match="can no longer be rolled back"):
            roll_back(REGION, gid, USER)
