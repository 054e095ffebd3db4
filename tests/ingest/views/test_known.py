"""Groups whose rows before a step are known: what they are beside what they were."""

from __future__ import annotations

import pytest

from ingest import engine
from ingest.contract.plane import Plane
from ingest.views import folding, stepping
from tests.ingest.views import worlds
from tests.ingest.views.test_partials import AVERAGES, _change, _check, _filled

pytestmark = pytest.mark.spark

GREATEST = "SELECT a, max(b) AS x, s, max(d) AS y, avg(d) AS z FROM t GROUP BY a, s"
QUOTIENTS = "SELECT a, 100 / count(*) AS x, sum(d) * 2 AS y, a::text AS z FROM t GROUP BY a"
GENERATED = "SELECT a, generate_series(1, 2) AS n, sum(b) AS x FROM t GROUP BY a"
AROUND = (
    "SELECT g.a, generate_series(1, 2) AS n, g.x FROM"
    " (SELECT a, avg(b) AS x FROM t GROUP BY a) AS g"
)


@pytest.mark.parametrize("sql", [AVERAGES, GREATEST, QUOTIENTS])
def test_changes_come_consolidated(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """Without another pass, also where groups go of which nothing could be made any more."""
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    monkeypatch.setattr(stepping, "_consolidated", lambda *_: None)
    t = tables["t"]
    t.update({"b": "b + 1", "d": "d + 1"}, "a = 1", 30)
    t.insert("(9, 9, 'z', 9.99, 0.1), (1, 50, 'x', -70.00, 1.0)", 31)
    worlds.follow(plane, view, (35,))
    if sql != GREATEST:
        t.delete("a = 9", 40)
    t.insert("(8, 8, 'q', 1.00, 0.1)", 41)
    t.delete("a = 8", 42)
    worlds.follow(plane, view, (45,))
    _check(plane, view, (20, 35, 45))


def test_what_stays_is_no_change(plane: Plane) -> None:
    """Of a group whose average stays what it was, only hidden numbers change."""
    tables, view = _filled(plane, "SELECT a, avg(b) AS x FROM t GROUP BY a")
    worlds.hydrate(plane, view, 20)
    tables["t"].insert("(1, 2, 'x', null, null), (3, 4, 'x', null, null)", 30)
    step = engine.step_view(plane, view, 35)
    assert (step.how, step.added, step.removed) == ("incremental", 1, 1)
    tables["t"].insert("(1, 2, 'x', null, null)", 40)
    step = engine.step_view(plane, view, 45)
    assert (step.how, step.added, step.removed) == ("incremental", 0, 0)
    tables["t"].delete("a = 1 and b = 1", 50)
    worlds.follow(plane, view, (55,))
    _check(plane, view, (20, 35, 45, 55))


@pytest.mark.parametrize("sql", [GENERATED, AROUND])
def test_groups_of_several_rows(plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """They have nothing hidden: the newest change of a key is not all of it."""
    monkeypatch.setattr(folding, "_ROWS", 1)
    tables, view = _filled(plane, sql)
    assert view.root.partial is None
    worlds.hydrate(plane, view, 20)
    _change(tables)
    worlds.follow(plane, view, (35, 45))
    engine.fold_view(plane, view.shard, view.relation)
    worlds.follow(plane, view, (60,))
    _check(plane, view, (20, 35, 45, 60))
