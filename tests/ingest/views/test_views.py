"""A view's life on a real Spark: hydrated, stepped, read at any of its times."""

from __future__ import annotations

import pytest

from ingest import engine
from ingest.contract.plane import Plane
from ingest.errors import HeadraceError
from tests.ingest.views import worlds
from tests.ingest.views.worlds import Table

pytestmark = pytest.mark.spark

SHAPE = worlds.relation(("k", "integer"), ("a name", "text"))
SUMS = worlds.relation(("a name", "text"), ("n", "bigint"), ("total", "bigint"))
GROUPED = "select `a name`, count(*) n, sum(k) total from t group by `a name`"


def test_a_view_is_its_query_at_every_step(plane: Plane) -> None:
    table = Table(plane, SHAPE)
    table.insert("(1, 'x'), (2, null), (3, 'x'), (3, 'x')", 10)
    view = worlds.view(SUMS, worlds.recompute(GROUPED, "t"), ("a name",), t=table.input)
    source = worlds.as_input((view, 0))
    assert engine.view_state(plane, view.shard) is None
    with pytest.raises(HeadraceError, match="still hydrating") as refused:
        worlds.rows(plane, source, 20)
    assert refused.value.sqlstate == "55000"
    done = worlds.hydrate(plane, view, 20)
    assert (done.time, done.added, done.how) == (20, 2, "hydrate")
    assert worlds.hydrate(plane, view, 25) == done
    table.insert("(4, null), (5, 'y')", 30)
    step = engine.step_view(plane, view, 40)
    assert (step.time, step.after, step.added, step.removed) == (40, 29, 2, 1)
    assert engine.step_view(plane, view, 40).how == "nothing"
    assert engine.step_view(plane, view, 50) == type(step)(50, 50, how="nothing")
    table.delete("`a name` = 'x'", 60)
    table.update({"k": "k + 1"}, "k = 5", 65)
    step = engine.step_view(plane, view, 70, since=50)
    assert (step.after, step.added, step.removed) == (59, 1, 2)
    for time in (20, 29, 40, 55, 70, 99):
        assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time), time
    start = worlds.rows(plane, source, 20)
    for upto in (30, 40, 69, 70):
        moved = worlds.changes(plane, source, 20, upto)
        assert worlds.added(start, moved) == worlds.rows(plane, source, upto)
    state = engine.view_state(plane, view.shard)
    assert state is not None
    assert (state.since, state.time, state.rows) == (20, 70, 2)
    assert state.bytes > 0
    exact = [engine.view_exact(plane, source, t, 70) for t in (19, 20, 29, 30, 40, 59, 60, 70, 71)]
    assert exact == [False, True, True, False, True, True, False, True, False]
    with pytest.raises(HeadraceError, match="before the view's history") as early:
        worlds.rows(plane, source, 19)
    assert early.value.sqlstate == "22023"
    assert engine.inputs_changed(plane, view.inputs, 50, 60)
    assert not engine.inputs_changed(plane, view.inputs, 30, 59)
    engine.drop_shard(plane, view.shard)
    assert engine.view_state(plane, view.shard) is None
