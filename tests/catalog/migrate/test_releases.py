"""A release starts on a region that another one has served."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog import desired, snapshot
from catalog.errors import InvalidStatement
from catalog.migrate import releases
from catalog.migrate.builtins import Declared
from catalog.migrate.dump import dump
from catalog.migrate.releases import declared, look, prepare, prepare_all
from catalog.models import AuditEvent, BuiltinRelation, Item, Migration, Region, RegionPlace
from catalog.results import Rows
from catalog.session import Session, role_for
from catalog.system import run as system
from tests.catalog.migrate.corpus import REGION

TABLES = "mz_catalog.mz_tables"


@pytest.fixture
def session(db: None) -> Session:
    system.forget()
    prepare(REGION)
    return Session(role_for(REGION, "ada@example.com", superuser=True))


def _ids() -> dict[str, str]:
    return dict(BuiltinRelation.objects.values_list("name", "gid"))


def _before(name: str, *columns: tuple[str, str], needs: tuple[str, ...] = ()) -> None:
    """Let the region remember a built-in with other columns, as an older release left it."""
    old = Declared(name, columns, needs)
    BuiltinRelation.objects.filter(name=name).update(
        columns=[list(column) for column in columns], fingerprint=old.fingerprint, needs=needs
    )


def _rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    (result,) = session.execute(sql)
    assert isinstance(result, Rows)
    return [tuple(row.values()) for row in result.data.to_pylist()]


def test_ids_are_remembered_at_the_first_start(session: Session) -> None:
    assert set(_ids()) == {one.name for one in declared()}
    told = dict(_rows(session, "SELECT name, id FROM mz_relations WHERE id LIKE 's%'"))
    assert told["mz_tables"] == _ids()[TABLES]
    again = prepare(REGION)
    assert not again.plan.changes
    assert Migration.objects.count() == 0


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ((("id", "text"),), "column oid added"),
        ((("gone", "text"),), "column gone removed"),
        ((("id", "bigint"),), "column id is text, was bigint"),
    ],
)
def test_a_changed_built_in_gets_a_new_id(
    session: Session, columns: tuple[tuple[str, str], ...], reason: str
) -> None:
    _before(TABLES, *columns)
    old = _ids()
    prepared = look(REGION)
    assert reason in prepared.plan.reasons[TABLES]
    assert _ids() == old
    prepare(REGION)
    new = _ids()
    assert new[TABLES] not in old.values()
    assert {n: i for n, i in new.items() if n != TABLES} == {
        n: i for n, i in old.items() if n != TABLES
    }
    assert dict(_rows(session, "SELECT name, id FROM mz_relations"))["mz_tables"] == new[TABLES]
    migration = Migration.objects.get()
    assert (migration.kind, migration.state) == ("built-ins", "applied")
    event = AuditEvent.objects.get(object_type="builtin")
    assert reason in event.details["why"]
    assert not look(REGION).plan.changes


def test_one_that_is_gone_and_one_that_is_new(session: Session) -> None:
    BuiltinRelation.objects.filter(name=TABLES).update(name="mz_catalog.mz_tabular")
    prepared = prepare(REGION)
    assert [one.name for one in prepared.plan.drops] == ["mz_catalog.mz_tabular"]
    assert [one.name for one in prepared.plan.creates] == [TABLES]


def test_dependencies_turned_round_between_releases(session: Session) -> None:
    views = "mz_catalog.mz_views"
    _before(views, ("id", "text"), needs=(TABLES,))
    wanted = tuple(
        replace(one, needs=(views,)) if one.name == TABLES else one for one in declared()
    )
    prepared = prepare(REGION, wanted)
    assert [one.name for one in prepared.plan.creates] == [views, TABLES]
    assert BuiltinRelation.objects.get(name=TABLES).needs == [views]


def test_indexes_of_logs_have_names_of_their_own(session: Session) -> None:
    index = BuiltinRelation.objects.filter(kind="index").order_by("name").first()
    assert index is not None
    assert index.name == "mz_feeds-quickstart-primary-idx"
    _before("mz_internal.mz_feeds", ("id", "text"))
    old = _ids()
    prepare(REGION)
    assert _ids()[index.name] != old[index.name]
    shown = "SELECT i.id, r.name FROM mz_indexes i JOIN mz_relations r ON r.id = i.on_id"
    found = _rows(session, f"{shown} WHERE i.name = '{index.name}'")
    assert found == [(_ids()[index.name], "mz_feeds")]
    kinds = _rows(session, f"SELECT type FROM mz_objects WHERE name = '{index.name}'")
    assert kinds == [("index",)]


def test_an_index_whose_name_a_user_has_gets_a_number(session: Session) -> None:
    name = "mz_feeds-quickstart-primary-idx"
    BuiltinRelation.objects.all().delete()
    list(session.execute(f'CREATE VIEW "{name}" AS SELECT 1 AS one'))
    prepare(REGION)
    assert BuiltinRelation.objects.filter(name=f"{name}1", kind="index").exists()
    other = "mz_source_status_history-quickstart-primary-idx"
    list(session.execute(f'CREATE VIEW "{other}" AS SELECT 1 AS one'))
    assert not look(REGION).plan.changes


class TestUsersViews:
    """Views over built-ins."""

    def test_they_work_and_never_get_wider(self, session: Session) -> None:
        list(session.execute("CREATE VIEW mine AS SELECT * FROM mz_catalog.mz_databases"))
        list(session.execute("CREATE VIEW over AS SELECT name FROM mine WHERE name <> 'x'"))
        assert _rows(session, "SELECT name FROM over") == [("headrace",)]
        text = snapshot.current(REGION).by_path["headrace", "public", "mine"].create_sql
        assert "*" not in text
        assert "FROM mz_catalog.mz_databases" in text

    @pytest.mark.parametrize(
        ("query", "columns"),
        [
            ("SELECT t.*, d.name AS d FROM mz_schemas t, mz_databases AS d", 7),
            ("SELECT * FROM (SELECT id, count(*) FROM mz_tables GROUP BY id) q", 2),
            ("WITH w AS (SELECT name FROM mz_roles) SELECT * FROM w", 1),
            ("SELECT * FROM mz_roles AS r (x, y) UNION ALL SELECT * FROM mz_roles", 6),
            ("SELECT relname, pg_get_userbyid(relowner) FROM pg_class", 2),
        ],
    )
    def test_stars_are_written_out(self, session: Session, query: str, columns: int) -> None:
        list(session.execute(f"CREATE VIEW mine AS {query}"))
        entry = snapshot.current(REGION).by_path["headrace", "public", "mine"]
        assert len(entry.relation.columns) == columns
        assert _rows(session, "SELECT * FROM mine") == _rows(session, query)

    def test_they_survive_with_their_ids(self, session: Session) -> None:
        list(session.execute("CREATE VIEW mine AS SELECT name, id FROM mz_tables"))
        before = dump(REGION)
        _before(TABLES, ("id", "text"))
        prepare(REGION)
        assert dump(REGION) == before
        assert _rows(session, "SELECT * FROM mine") == []

    def test_what_is_missed_refuses_the_start_and_changes_nothing(self, session: Session) -> None:
        list(session.execute("CREATE VIEW mine AS SELECT name FROM mz_catalog.mz_tables"))
        wanted = tuple(one for one in declared() if one.name != TABLES)
        before, ids = dump(REGION), _ids()
        revision = Region.objects.get(name=REGION).revision
        with pytest.raises(
            InvalidStatement, match=r"cannot be started: headrace\.public\.mine"
        ) as e:
            prepare(REGION, wanted)
        assert "redefine or drop the view" in str(e.value.hint)
        assert (dump(REGION), _ids()) == (before, ids)
        assert Region.objects.get(name=REGION).revision == revision

    def test_a_missing_column_refuses_it_too(self, session: Session) -> None:
        list(session.execute("CREATE VIEW mine AS SELECT name FROM mz_catalog.mz_tables"))
        item = snapshot.current(REGION).by_path["headrace", "public", "mine"]
        text = item.create_sql.replace("name", "no_such_column")
        Item.objects.filter(gid=item.id).update(create_sql=text)
        Region.objects.filter(name=REGION).update(stamp="0" * 32)
        _before(TABLES, ("id", "text"))
        (blocker,) = look(REGION).blockers
        assert "no_such_column" in blocker.problem


def test_nobody_is_sent_anything_again(session: Session) -> None:
    list(session.execute("CREATE SOURCE s FROM LOAD GENERATOR COUNTER"))
    list(session.execute("CREATE TABLE c FROM SOURCE s"))
    list(session.execute("CREATE MATERIALIZED VIEW mv AS SELECT counter FROM c"))
    (feed,) = desired.wanted_feeds(REGION)
    before = (desired.feed_command(REGION, feed), _view())
    _before(TABLES, ("id", "text"))
    prepare(REGION)
    assert (desired.feed_command(REGION, feed), _view()) == before


def _view() -> object:
    picture = snapshot.current(REGION)
    return desired.view_command(picture, picture.by_path["headrace", "public", "mv"])


def test_a_newer_release_is_not_overwritten(session: Session) -> None:
    RegionPlace.objects.update(release=releases.RELEASE + 1)
    with pytest.raises(InvalidStatement, match="served by a newer release"):
        prepare_all()
