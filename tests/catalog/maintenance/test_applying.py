"""Replacements beside a maintainer that runs: applied, taken back, guarded, counted."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from catalog import snapshot
from catalog.maintenance.expiring import expire
from catalog.maintenance.impact import impact
from catalog.maintenance.maintainer import Maintainer
from catalog.models import AuditEvent, Job, ViewVersion
from catalog.session import Session, role_for
from ingest.errors import HeadraceError
from tests.catalog.maintenance.conftest import REGION, Region

pytestmark = pytest.mark.spark


@pytest.fixture
def spent(kept: Region) -> Region:
    kept.run("CREATE TABLE t (who text, n int)")
    kept.run("INSERT INTO t VALUES ('ada', 1), ('bob', 2), ('ada', 3)")
    kept.run("CREATE MATERIALIZED VIEW v AS SELECT who, sum(n) AS n FROM t GROUP BY who")
    kept.run("CREATE MATERIALIZED VIEW top AS SELECT max(n) AS n FROM v")
    kept.hydrate()
    return kept


def by_itself(region: str, role: str, sql: str) -> None:
    list(Session(role_for(region, role, superuser=True), automatic=True).execute(sql))


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def replacement(region: Region, name: str = "r", options: str = "") -> str:
    region.run(
        f"CREATE REPLACEMENT MATERIALIZED VIEW {name} FOR v {options} AS "
        "SELECT who, sum(n) * 10 AS n FROM t GROUP BY who"
    )
    return snapshot.current(REGION).by_path["headrace", "public", name].id


def test_applied_and_taken_back(spent: Region) -> None:
    replacement(spent)
    with pytest.raises(HeadraceError, match="not hydrated yet") as caught:
        spent.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert caught.value.sqlstate == "55000"
    spent.hydrate()
    spent.run("INSERT INTO t VALUES ('eve', 5)")
    assert ("eve", 5) in spent.run("SELECT * FROM v")
    spent.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert sorted(spent.run("SELECT * FROM v")) == [("ada", 40), ("bob", 20), ("eve", 50)]
    assert spent.run("SELECT n FROM top") == [(50,)]
    switched = ViewVersion.objects.get(until=0, number=2).since
    before = spent.run(f"SELECT * FROM v AS OF {switched - 1}")
    assert sorted(before) == [("ada", 4), ("bob", 2), ("eve", 5)]
    assert spent.run(f"SELECT n FROM top AS OF {switched - 1}") == [(5,)]
    assert spent.run(f"SELECT n FROM top AS OF {switched}") == [(50,)]
    spent.run("INSERT INTO t VALUES ('ada', 1)")
    spent.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    assert sorted(spent.run("SELECT * FROM v")) == [("ada", 5), ("bob", 2), ("eve", 5)]
    assert spent.run("SELECT n FROM top") == [(5,)]
    events = AuditEvent.objects.filter(event="alter", object_type="materialized-view")
    assert "auto" not in str(list(events.values_list("details", flat=True)))
    assert expire(REGION) == ()
    ViewVersion.objects.filter(until__gt=0, expires_at__isnull=False).update(
        expires_at="2020-01-01T00:00:00Z"
    )
    (gone,) = expire(REGION)
    assert Job.objects.filter(kind="drop shard", subject=gone).exists()
    assert sorted(spent.run("SELECT * FROM v")) == [("ada", 5), ("bob", 2), ("eve", 5)]
    assert spent.run(f"SELECT n FROM top AS OF {switched}") == [(50,)]


def test_any_session_sees_what_was_applied_though_nothing_else_happens(spent: Region) -> None:
    replacement(spent)
    spent.hydrate()
    spent.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert sorted(spent.run("SELECT * FROM v")) == [("ada", 40), ("bob", 20)]
    other = Region(Session(role_for(REGION, "other", superuser=True)))
    assert other.run("SELECT n FROM top") == [(40,)]
    spent.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    assert other.run("SELECT n FROM top") == [(4,)]


def test_the_time_of_a_column_that_was_taken_back(
    spent: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the rows, and where the definition of then has to be computed."""
    spent.run(
        "CREATE REPLACEMENT MATERIALIZED VIEW r FOR v AS "
        "SELECT who, sum(n) * 10 AS n, count(*) AS times FROM t GROUP BY who"
    )
    spent.hydrate()
    spent.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert sorted(spent.run("SELECT * FROM v")) == [("ada", 40, 2), ("bob", 20, 1)]
    switched = ViewVersion.objects.get(until=0, number=2).since
    assert sorted(spent.run(f"SELECT * FROM v AS OF {switched - 1}")) == [
        ("ada", 4, None),
        ("bob", 2, None),
    ]
    spent.run("ALTER MATERIALIZED VIEW v ROLLBACK REPLACEMENT")
    for computed in (False, True):
        if computed:
            monkeypatch.setattr("catalog.time.placing.exact", lambda *_: False)
        assert sorted(spent.run("SELECT * FROM v")) == [("ada", 4), ("bob", 2)]
        then = spent.run(f"SELECT * FROM v AS OF {switched}")
        assert sorted(then) == [("ada", 40), ("bob", 20)]
        assert spent.run(f"SELECT n FROM top AS OF {switched}") == [(40,)]


def test_a_failing_view_is_repaired_by_a_replacement(kept: Region) -> None:
    kept.run("CREATE TABLE d (n int)")
    kept.run("INSERT INTO d VALUES (1)")
    kept.run("CREATE MATERIALIZED VIEW v AS SELECT n, 10 / n AS part FROM d")
    kept.hydrate()
    kept.run("INSERT INTO d VALUES (0)")
    until(lambda: kept.progress("v").status == "stalled")
    kept.run(
        "CREATE REPLACEMENT MATERIALIZED VIEW r FOR v AS "
        "SELECT n, 10 / nullif(n, 0) AS part FROM d"
    )
    kept.hydrate()
    kept.run("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT r")
    assert sorted(kept.run("SELECT n, part FROM v"), key=str) == [(0, None), (1, 10)]


def test_impact_on_the_views_above(spent: Region) -> None:
    staged = replacement(spent)
    with pytest.raises(HeadraceError, match="cannot be told yet"):
        impact(REGION, staged)
    spent.hydrate()
    until(lambda: spent.progress("r").complete_through == spent.progress("v").complete_through)
    ((view, added, removed, changed),) = impact(REGION, staged)
    assert snapshot.current(REGION).entries[view].name == "top"
    assert (added, removed, changed) in {(1, 1, 0), (0, 0, 1)}


def test_guards(spent: Region) -> None:
    spent.maintainer._staging._run = by_itself
    replacement(spent, "few", "WITH (APPLY WHEN HYDRATED, MAX ROWS 1)")
    spent.hydrate()
    until(lambda: spent.progress("few").staged_as_of > 0)
    row = spent.progress("few")
    assert row.staged_changed + row.staged_added + row.staged_removed >= 2
    until(lambda: "MAX ROWS is 1" in spent.progress("few").detail)
    replacement(spent, "many", "WITH (APPLY WHEN HYDRATED, MAX PERCENT 1000)")
    spent.hydrate()
    until(lambda: ("headrace", "public", "many") not in snapshot.current(REGION).by_path)
    assert ("ada", 40) in spent.run("SELECT * FROM v")
    events = AuditEvent.objects.filter(event="alter", details__auto=True)
    assert [event.user for event in events] == ["ada@example.com"]


def test_two_maintainers_take_turns(spent: Region) -> None:
    other = Maintainer(REGION, "far:1:other")
    other.turn()
    assert other._epoch is None
    assert not other.busy
