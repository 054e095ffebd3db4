"""A view's life on a real Spark: hydrated, stepped, read at any of its times."""

from __future__ import annotations

import threading
import time as clock

import pytest

from ingest import engine
from ingest.contract.commands import Input, Query
from ingest.contract.plane import Plane
from ingest.contract.views import Block, Hydration, Step
from ingest.errors import HeadraceError
from tests.ingest.views import worlds
from tests.ingest.views.worlds import Table

pytestmark = pytest.mark.spark

SHAPE = worlds.relation(("k", "integer"), ("a name", "text"))
SUMS = worlds.relation(("a name", "text"), ("n", "bigint"), ("total", "bigint"))
GROUPED = "select `a name`, count(*) n, sum(k) total from t group by `a name`"
SLOW = "select count(*) n from range(10000000000) a, range(10000) b where a.id % 7 = b.id % 11"


def test_a_view_is_its_query_at_every_step(plane: Plane) -> None:
    table = Table(plane, SHAPE)
    table.insert("(1, 'x'), (2, null), (3, 'x'), (3, 'x')", 10)
    view = worlds.view(SUMS, worlds.recompute(GROUPED, "t"), ("a name",), t=table.input)
    source = worlds.as_input((view, 0))
    _not_readable(plane, view.shard, source)
    done = worlds.hydrate(plane, view, 20)
    assert (done.time, done.added, done.how) == (20, 2, "hydrate")
    assert worlds.hydrate(plane, view, 25) == done
    table.insert("(4, null), (5, 'y')", 30)
    assert engine.step_view(plane, view, 40) == Step(40, 29, 2, 1, "recompute")
    assert engine.step_view(plane, view, 40).how == "nothing"
    assert engine.step_view(plane, view, 50) == Step(50, 50, how="nothing")
    table.delete("`a name` = 'x'", 60)
    table.update({"k": "k + 1"}, "k = 5", 65)
    assert engine.step_view(plane, view, 70, since=50) == Step(70, 59, 1, 2, "recompute")
    for time in (20, 29, 40, 55, 70, 99):
        assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time), time
    start = worlds.rows(plane, source, 20)
    for upto in (30, 40, 69, 70):
        moved = worlds.changes(plane, source, 20, upto)
        assert worlds.added(start, moved) == worlds.rows(plane, source, upto)
    exact = [engine.view_exact(plane, source, t, 70) for t in (19, 20, 29, 30, 40, 59, 60, 70, 71)]
    assert exact == [False, True, True, False, True, True, False, True, False]
    assert engine.inputs_changed(plane, view.inputs, 50, 60)
    assert not engine.inputs_changed(plane, view.inputs, 30, 59)
    state = engine.view_state(plane, view.shard)
    assert state is not None
    assert (state.since, state.time, state.rows) == (20, 70, 2)
    assert state.bytes > 0
    engine.drop_shard(plane, view.shard)
    assert engine.view_state(plane, view.shard) is None


def _not_readable(plane: Plane, shard: str, source: Input) -> None:
    assert engine.view_state(plane, shard) is None
    with pytest.raises(HeadraceError, match="still hydrating") as refused:
        worlds.rows(plane, source, 20)
    assert refused.value.sqlstate == "55000"
    assert not engine.view_exact(plane, source, 20, 20)


def test_rows_without_a_key_are_a_multiset(plane: Plane) -> None:
    kinds = ("int4[]", "float8", "timestamp", "timestamptz", "numeric(12,3)", "date", "bytea")
    shape = worlds.relation(*((f"x{number}", kind) for number, kind in enumerate(kinds)))
    table = Table(plane, shape)
    view = worlds.over("SELECT * FROM t", {"t": table.input})
    source = worlds.as_input((view, 0))
    assert worlds.hydrate(plane, view, 5).added == 0
    assert worlds.rows(plane, source, 5) == {}
    row = (
        "(array(1, null), 0.5, timestamp_ntz '2026-01-02 03:04:05.678901',"
        " timestamp '1066-10-14 09:00:00.000001+02', 1.125, date '0987-01-01', X'00FF')"
    )
    other = "(null, null, null, null, null, null, null)"
    table.insert(", ".join((row, row, row, other, other)), 10)
    assert engine.step_view(plane, view, 10).added == 5
    table.delete("x0 is null", 20)
    table.insert(", ".join((row, other)), 25)
    assert engine.step_view(plane, view, 30) == Step(30, 19, 1, 1)
    for time in (10, 30):
        assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time)
    read = engine.read(plane, Query("select * from u1", {"u1": source}, 30)).data
    assert engine.changes(plane, source, 5, 30).data.schema.types[:-2] == read.schema.types
    with pytest.raises(HeadraceError, match="before the view's history") as early:
        worlds.rows(plane, source, 4)
    assert early.value.sqlstate == "22023"
    with pytest.raises(HeadraceError, match="before the history") as gone:
        engine.changes(plane, source, 4, 30)
    assert gone.value.sqlstate == "22023"


def test_a_constant_view_is_computed_once(plane: Plane) -> None:
    shape = worlds.relation(("x", "integer"))
    view = worlds.view(shape, Block("linear", "select 1 as x", columns=("x",)))
    worlds.hydrate(plane, view, 5)
    assert engine.step_view(plane, view, 50).how == "nothing"
    assert worlds.rows(plane, worlds.as_input((view, 0)), 50) == {(1,): 1}


def test_hydration_is_cancelled_by_its_tag_and_by_who_follows_it(plane: Plane) -> None:
    view = worlds.view(worlds.relation(("n", "bigint")), worlds.recompute(SLOW))
    told: list[Hydration] = []
    stopping = threading.Timer(3, engine.cancel, (plane, "slow"))
    stopping.start()
    started = clock.monotonic()
    with pytest.raises(HeadraceError, match="canceling statement") as cut:
        engine.hydrate_view(plane, view, 5, "slow", told.append)
    assert cut.value.sqlstate == "57014"
    assert clock.monotonic() - started < 30
    assert told[0] == Hydration(0, 0, 0.0)

    def refuse(_: Hydration) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        engine.hydrate_view(plane, view, 5, "slow", refuse)
    assert engine.view_state(plane, view.shard) is None


def test_two_hydrations_are_one(plane: Plane) -> None:
    table = Table(plane, SHAPE)
    table.insert("(1, 'x'), (2, 'y')", 10)
    view = worlds.view(SHAPE, worlds.recompute("select * from t", "t"), t=table.input)
    threads = [
        threading.Thread(target=worlds.hydrate, args=(plane, view, time)) for time in (11, 12, 13)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = engine.view_state(plane, view.shard)
    assert state is not None
    assert state.rows == 2
    assert worlds.rows(plane, worlds.as_input((view, 0)), 13) == {(1, "x"): 1, (2, "y"): 1}
