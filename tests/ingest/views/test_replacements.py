"""A view whose definition was replaced: reads, changes and the difference that was staged."""

from __future__ import annotations

import pytest

from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.views import Staged, View
from tests.ingest.views import worlds
from tests.ingest.views.worlds import Table

pytestmark = pytest.mark.spark

OLD = worlds.relation(("k", "integer"), ("v", "text"))
NEW = worlds.relation(("k", "integer"), ("v", "text"), ("more", "integer"))


def test_what_a_replacement_would_change(plane: Plane) -> None:
    _, old, new = _beside(plane)
    before, beside = worlds.as_input((old, 0)), worlds.as_input((new, 0))
    assert engine.staged(plane, before, beside, 14, ("k",)) == Staged(0, 1, 2, 87, 14)
    assert engine.staged(plane, before, beside, 14) == Staged(2, 3, 0, 87, 14)
    found = engine.staged_rows(plane, before, beside, 14, 3)
    assert found.relation.names == ("mz_diff", "k", "v", "more")
    assert [column.to_pylist() for column in found.data.columns] == [
        [-1, 1, -1],
        [1, 1, 2],
        ["x", "X", "y"],
        [None, 10, None],
    ]


def _beside(plane: Plane) -> tuple[Table, View, View]:
    """A view and its replacement, both hydrated."""
    table = Table(plane, OLD)
    table.insert("(1, 'x'), (2, 'y'), (3, null)", 10)
    old = worlds.view(OLD, worlds.recompute("select * from t", "t"), ("k",), t=table.input)
    sql = "select k, upper(v) v, k * 10 from t where k < 3"
    new = worlds.view(NEW, worlds.recompute(sql, "t"), ("k",), t=table.input)
    worlds.hydrate(plane, old, 12)
    worlds.hydrate(plane, new, 14)
    return table, old, new


def test_a_view_across_a_replacement_and_back(plane: Plane) -> None:
    table, old, new = _beside(plane)
    table.insert("(0, 'z')", 15)
    for view in (old, new):
        engine.step_view(plane, view, 16)
    source = worlds.as_input((old, 0), (new, 17))
    table.update({"v": "'w'"}, "k = 1", 20)
    for view in (old, new):
        engine.step_view(plane, view, 21)
    undone = worlds.as_input((old, 0), (new, 17), (old, 22))
    table.delete("k = 2", 25)
    engine.step_view(plane, old, 26)
    assert worlds.rows(plane, source, 16) == {
        (1, "x", None): 1,
        (2, "y", None): 1,
        (3, None, None): 1,
        (0, "z", None): 1,
    }
    assert worlds.rows(plane, source, 17) == worlds.truth(plane, new, 17)
    assert worlds.rows(plane, source, 21) == {(0, "Z", 0): 1, (1, "W", 10): 1, (2, "Y", 20): 1}
    for time, expected in ((16, 4), (17, 3), (21, 3), (22, 4), (26, 3)):
        assert sum(worlds.rows(plane, undone, time).values()) == expected
    for life, times in ((source, (15, 16, 17, 21)), (undone, (15, 16, 17, 21, 22, 26))):
        first = worlds.rows(plane, life, 14)
        for upto in times:
            moved = worlds.changes(plane, life, 14, upto)
            assert worlds.added(first, moved) == worlds.rows(plane, life, upto), upto
    assert worlds.changes(plane, source, 17, 20) == {}
    assert engine.inputs_changed(plane, [source], 16, 17)
    assert not engine.inputs_changed(plane, [source], 17, 20)
    above = worlds.view(OLD, worlds.recompute("select k, v from t", "t"), t=source)
    worlds.hydrate(plane, above, 16)
    assert engine.step_view(plane, above, 21).how == "recompute"
    assert worlds.rows(plane, worlds.as_input((above, 0)), 21) == worlds.truth(plane, above, 21)
