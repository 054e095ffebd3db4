"""Hidden aggregates of a view's groups: kept through steps and folds, and seen by nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import DataFrame, SparkSession

from ingest import engine, spark
from ingest.contract.plane import Plane
from ingest.contract.views import Staged, View
from ingest.errors import HeadraceError, IngestError
from ingest.tables import view_hidden, view_versions
from ingest.views import folding, partials, stepping, whole
from tests.ingest.views import worlds
from tests.ingest.views.worlds import Rows, Table

pytestmark = pytest.mark.spark

AVERAGES = "SELECT a, avg(b) AS x, sum(d) AS y FROM t GROUP BY a"
UTMOST = "SELECT a, s, min(b) AS x, max(d) AS y, avg(d) AS z FROM t GROUP BY a, s"
JOINED = "SELECT u.s, avg(t.d) AS x, sum(t.b) AS y FROM t JOIN u ON t.a = u.a GROUP BY u.s"
START = (
    "(1, 1, 'x', 1.25, 0.5), (1, 3, 'x', -3.00, null), (2, null, null, null, null),"
    " (null, 7, 'y', 0.10, 1.0), (3, 2, 'y', -1.00, 1.0)"
)


def _filled(plane: Plane, sql: str = AVERAGES) -> tuple[dict[str, Table], View]:
    tables = worlds.tables(plane)
    tables["t"].insert(START, 10)
    tables["u"].insert("(1, 5, 'p'), (2, 5, 'p'), (3, 1, 'q'), (null, 1, 'q')", 11)
    inputs = {name: table.input for name, table in tables.items()}
    return tables, worlds.over(sql, inputs)


def _change(tables: dict[str, Table]) -> None:
    t = tables["t"]
    t.update({"b": "case b when 1 then 3 else 1 end"}, "a = 1", 30)
    t.insert("(1, null, 'x', null, null), (2, 5, null, 2.00, null), (9, 9, 'z', 9.99, 0.1)", 32)
    t.delete("a = 3 or b = 1", 40)
    t.update({"a": "2", "d": "d + 1"}, "a is null", 42)
    t.delete("b is null", 50)
    t.insert("(3, 2, 'y', -1.00, 1.0), (null, 8, 'y', null, 1.0)", 51)
    tables["u"].update({"s": "'q'"}, "a = 1", 52)


@pytest.mark.parametrize(
    ("sql", "folded"), [(AVERAGES, True), (UTMOST, False), (UTMOST, True), (JOINED, False)]
)
def test_groups_follow_from_what_is_hidden(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str, *, folded: bool
) -> None:
    monkeypatch.setattr(folding, "_ROWS", 1)
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    assert _hidden(plane, view)
    _change(tables)
    for upto in (35, 45, 60):
        step = engine.step_view(plane, view, upto)
        assert (step.how, step.reason) == ("incremental", "")
        if folded:
            engine.fold_view(plane, view.shard, view.relation)
        assert _kept(plane, view) == _wanted(plane, view, upto)
    _check(plane, view, (20, 35, 45, 60))


def _hidden(plane: Plane, view: View) -> bool:
    return partials.hidden_of(view, view_versions.require(plane, view.shard)) is not None


def _collected(rows: DataFrame) -> Rows:
    return worlds.counted(rows.toArrow().to_pylist())


def _kept(plane: Plane, view: View) -> Rows:
    known = view_versions.require(plane, view.shard)
    assert known.hidden is not None
    hidden = known.hidden

    def work(live: SparkSession) -> Rows:
        return _collected(view_hidden.newest(plane, live, known, view.relation, hidden))

    return spark.run(plane, work, "views", repeat=True)


def _wanted(plane: Plane, view: View, time: int) -> Rows:
    """All columns, computed from the inputs."""
    known = view_versions.require(plane, view.shard)
    wide = partials.widened(view, known.hidden)

    def work(live: SparkSession) -> Rows:
        return _collected(whole.rows(plane, live, wide, time))

    return spark.run(plane, work, "views", repeat=True)


def _check(plane: Plane, view: View, times: tuple[int, ...]) -> None:
    source = worlds.as_input((view, 0))
    for time in times:
        assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time), time
    first = worlds.rows(plane, source, times[0])
    for upto in times[1:]:
        moved = worlds.changes(plane, source, times[0], upto)
        assert worlds.added(first, moved) == worlds.truth(plane, view, upto)
    state = engine.view_state(plane, view.shard)
    assert state is not None
    assert state.rows == sum(worlds.rows(plane, source, times[-1]).values())


def test_what_is_hidden_is_not_seen(plane: Plane) -> None:
    tables = worlds.tables(plane)
    tables["t"].insert("(1, 4, 'x', 1.00, 0.5), (2, 4, 'x', 1.00, 0.5)", 10)
    sql = "SELECT a, avg(b) AS mz_partial_1 FROM t GROUP BY a"
    view = worlds.over(sql, {"t": tables["t"].input})
    source = worlds.as_input((view, 0))
    worlds.hydrate(plane, view, 20)
    tables["t"].insert("(1, 4, 'y', 0.00, 0.5)", 30)
    step = engine.step_view(plane, view, 31)
    assert (step.how, step.added, step.removed) == ("incremental", 0, 0)
    assert _kept(plane, view) == _wanted(plane, view, 31)
    assert worlds.changes(plane, source, 20, 31) == {}
    told = engine.changes(plane, source, 20, 31).relation.names
    assert told == ("a", "mz_partial_1", "mz_timestamp", "mz_diff")
    assert sum(worlds.rows(plane, source, 31).values()) == 2
    assert engine.staged(plane, source, source, 31, ("a",)) == Staged(0, 0, 0, 0, 31)
    above = worlds.over("SELECT a FROM v WHERE mz_partial_1 > 3", {"v": source})
    worlds.hydrate(plane, above, 20)
    tables["t"].delete("a = 1", 40)
    for each in (view, above):
        step = engine.step_view(plane, each, 41)
        assert (step.how, step.added, step.removed) == ("incremental", 0, 1)
    assert worlds.rows(plane, worlds.as_input((above, 0)), 41) == {(2,): 1}


def test_a_view_without_them_goes_on_as_before(plane: Plane) -> None:
    tables, view = _filled(plane)
    worlds.hydrate(plane, replace(view, root=replace(view.root, partial=None)), 20)
    assert not _hidden(plane, view)
    _change(tables)
    for upto in (31, 60):
        assert engine.step_view(plane, view, upto).how == "incremental"
    _check(plane, view, (20, 31, 60))


def test_a_step_without_them_ends_them(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_ROWS", 1)
    tables, view = _filled(plane)
    worlds.hydrate(plane, view, 20)
    _change(tables)
    engine.step_view(plane, view, 31)
    engine.step_view(plane, replace(view, root=replace(view.root, partial=None)), 41)
    assert not _hidden(plane, view)
    engine.fold_view(plane, view.shard, view.relation)
    engine.step_view(plane, view, 60)
    assert not _hidden(plane, view)
    _check(plane, view, (20, 31, 41, 60))


def test_a_recomputed_step_keeps_them(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, view = _filled(plane)
    worlds.hydrate(plane, view, 20)
    _change(tables)
    with monkeypatch.context() as patched:
        patched.setattr(stepping, "_followed", _refused)
        assert engine.step_view(plane, view, 41).how == "recompute"
    assert _kept(plane, view) == _wanted(plane, view, 41)
    assert engine.step_view(plane, view, 60).how == "incremental"
    assert _kept(plane, view) == _wanted(plane, view, 60)
    _check(plane, view, (20, 41, 60))


def _refused(*_: object) -> None:
    raise IngestError("cannot be followed")


def test_a_sum_that_is_too_large_fails_as_its_query_does(plane: Plane) -> None:
    table = Table(plane, worlds.relation(("a", "int"), ("d", "numeric(20,0)")))
    large = "9" * 20
    table.insert(f"(1, {large}), (2, 1)", 10)
    view = worlds.over(
        "SELECT a, sum(d) AS x, count(*) AS n FROM t GROUP BY a", {"t": table.input}
    )
    narrow = replace(view, root=replace(view.root, partial=None, kind="recompute"))
    worlds.hydrate(plane, view, 20)
    table.insert(f"(1, {large})", 30)
    errors = []
    for each in (view, narrow):
        with pytest.raises(HeadraceError) as refused:
            engine.step_view(plane, each, 31)
        errors.append((refused.value.message, refused.value.sqlstate))
    assert errors[0] == errors[1]
    table.delete(f"d = {large}", 40)
    table.insert("(2, -5)", 41)
    assert engine.step_view(plane, view, 45).how == "incremental"
    assert worlds.rows(plane, worlds.as_input((view, 0)), 45) == worlds.truth(plane, view, 45)
