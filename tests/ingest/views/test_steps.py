"""Steps by the inputs' changes: always the query's rows, whoever else steps or falls over."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingest import delta, engine, spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.contract.views import View
from ingest.errors import Transient
from ingest.tables import view_rows, view_versions
from ingest.tables.view_versions import StepCommit
from ingest.views import folding
from tests.ingest.views import worlds
from tests.ingest.views.worlds import Table

pytestmark = pytest.mark.spark

QUERIES = {
    "SELECT t.a, t.s, u.c FROM t JOIN u ON t.a = u.a WHERE t.b > 0": "incremental",
    "SELECT a, count(*) AS n, sum(b) AS x FROM t GROUP BY a": "incremental",
    "SELECT w.k, w.v, u.s FROM w LEFT JOIN u ON w.a = u.a": "incremental",
    "SELECT a, b FROM t EXCEPT ALL SELECT a, c FROM u": "",
    "SELECT k, v FROM w ORDER BY v, k LIMIT 2": "",
}
ROUNDS = (
    ("t", "(1, 1, 'x', 1.5, 0.5), (1, 2, null, null, null), (2, 1, 'y', 0.1, 1.0)"),
    ("u", "(1, 5, 'p'), (1, 5, 'p'), (null, 1, 'q')"),
    ("w", "(1, 1, 9), (2, 2, 8), (3, null, 7)"),
)


def test_every_kind_of_block_follows_its_tables(plane: Plane) -> None:
    tables, inputs = _filled(plane)
    lower = worlds.over("SELECT a, b, s, d, f FROM t WHERE b >= 1", inputs)
    stacked = {**inputs, "t": worlds.as_input((lower, 0))}
    views = [lower, *(worlds.over(sql, stacked) for sql in QUERIES)]
    for view in views:
        worlds.hydrate(plane, view, 20)
    _change(tables)
    for upto in (34, 45, 60):
        for view, how in zip(views, ("incremental", *QUERIES.values()), strict=True):
            step = engine.step_view(plane, view, upto)
            assert not how or step.how in (how, "nothing"), view.root.sql
    for view in views:
        source = worlds.as_input((view, 0))
        for time in (20, 34, 45, 60):
            assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time)
        moved = worlds.changes(plane, source, 20, 60)
        assert worlds.added(worlds.rows(plane, source, 20), moved) == worlds.truth(plane, view, 60)


def _filled(plane: Plane) -> tuple[dict[str, Table], dict[str, Input]]:
    tables = worlds.tables(plane)
    for time, (item, values) in enumerate(ROUNDS, start=10):
        tables[item].insert(values, time)
    return tables, {item: table.input for item, table in tables.items()}


def _change(tables: dict[str, Table]) -> None:
    tables["t"].insert("(1, 3, 'z', 9.99, 0.25), (null, 1, 'x', null, null)", 30)
    tables["w"].update({"a": "1", "v": "v + 1"}, "k >= 2", 32)
    tables["u"].delete("s = 'p'", 40)
    tables["t"].update({"b": "b + 1"}, "a = 1", 42)
    tables["u"].insert("(2, 1, 'r'), (1, 1, 'r')", 50)
    tables["t"].delete("a = 2", 51)
    tables["t"].insert("(2, 1, 'y', 0.1, 1.0)", 52)
    tables["w"].delete(None, 55)


def test_a_step_that_came_late_is_void(plane: Plane) -> None:
    tables, inputs = _filled(plane)
    view = worlds.over("SELECT a, count(*) AS n FROM t GROUP BY a", inputs)
    source = worlds.as_input((view, 0))
    worlds.hydrate(plane, view, 20)
    late = view_versions.require(plane, view.shard).step
    tables["t"].delete("a = 1", 30)
    engine.step_view(plane, view, 31)
    _step_by_hand(plane, view, StepCommit("late", late, 32, 31, "incremental"))
    tables["t"].insert("(7, 7, 'x', null, null)", 33)
    assert engine.step_view(plane, view, 35).added == 1
    known = view_versions.require(plane, view.shard)
    assert known.void == ("late",)
    for time in (32, 35):
        assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time)
    moved = worlds.changes(plane, source, 20, 35)
    assert worlds.added(worlds.rows(plane, source, 20), moved) == worlds.truth(plane, view, 35)


def _step_by_hand(plane: Plane, view: View, commit: StepCommit) -> None:
    """What a maintainer writes that stood still for long and goes on."""

    def work(live: SparkSession) -> None:
        rows = live.sql("select 5 as a, 5L as n, 1L as mz_diff")
        kept = view_rows.stored(rows, view.relation, commit.time, commit.step)
        delta.append(kept, delta.changes_path(plane, view.shard), commit.to_json())

    spark.run(plane, work, "views", repeat=False)


def test_of_two_maintainers_one_counts(plane: Plane) -> None:
    tables, inputs = _filled(plane)
    view = worlds.over("SELECT a, b FROM t", inputs)
    worlds.hydrate(plane, view, 20)
    tables["t"].insert("(7, 7, 'x', null, null)", 30)
    lost: list[Transient] = []

    def step() -> None:
        try:
            engine.step_view(plane, view, 35)
        except Transient as error:
            lost.append(error)

    threads = [threading.Thread(target=step) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(error.sqlstate == "40001" for error in lost)
    assert worlds.rows(plane, worlds.as_input((view, 0)), 35) == worlds.truth(plane, view, 35)
    assert worlds.rows(plane, worlds.as_input((view, 0)), 35)[7, 7] == 1


@pytest.mark.parametrize("point", ["view computing", "view hydrated"])
def test_a_maintainer_that_dies_leaves_all_or_nothing(plane: Plane, point: str) -> None:
    tables, inputs = _filled(plane)
    view = worlds.over("SELECT a, b FROM t", inputs)
    source = worlds.as_input((view, 0))
    _dies(plane, view, 20, point)
    assert (engine.view_state(plane, view.shard) is None) == (point == "view computing")
    assert worlds.hydrate(plane, view, 21).time == (20 if point == "view hydrated" else 21)
    tables["t"].insert("(7, 7, 'x', null, null)", 30)
    written = point.replace("hydrated", "step written")
    _dies(plane, view, 40, written)
    step = engine.step_view(plane, view, 40)
    assert step.how == ("nothing" if written == "view step written" else "incremental")
    assert worlds.rows(plane, source, 40) == worlds.truth(plane, view, 40)


def _dies(plane: Plane, view: View, time: int, point: str) -> None:
    """A process hydrates or steps the view and kills itself at the point."""
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "one_life.py"), point, str(time)],
        input=pickle.dumps((plane, view)),
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL


def test_what_was_folded_reads_as_before(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_ROWS", 1)
    tables, inputs = _filled(plane)
    keyed = worlds.over("SELECT a, count(*) AS n FROM t GROUP BY a", inputs)
    keyless = worlds.over("SELECT s FROM t", inputs)
    views = (keyed, keyless)
    for view in views:
        worlds.hydrate(plane, view, 20)
        assert not engine.fold_view(plane, view.shard, view.relation)
    tables["t"].insert("(7, 7, 'x', null, null)", 30)
    _step_and_fold(plane, views, 35)
    tables["t"].delete("s = 'x' or s is null", 40)
    tables["t"].insert("(2, 7, 'y', null, null)", 41)
    _step_and_fold(plane, views, 45)
    tables["t"].insert("(2, 8, 'y', null, null)", 46)
    for view in views:
        engine.step_view(plane, view, 46)
        source = worlds.as_input((view, 0))
        for time in (20, 35, 45, 46):
            assert worlds.rows(plane, source, time) == worlds.truth(plane, view, time), time
        assert worlds.rows(plane, source, 34) == worlds.truth(plane, view, 20)
        moved = worlds.changes(plane, source, 20, 46)
        assert worlds.added(worlds.rows(plane, source, 20), moved) == worlds.truth(plane, view, 46)
        state = engine.view_state(plane, view.shard)
        assert state is not None
        assert state.rows == sum(worlds.rows(plane, source, 46).values())


def _step_and_fold(plane: Plane, views: Sequence[View], upto: int) -> None:
    for view in views:
        engine.step_view(plane, view, upto)
        assert engine.fold_view(plane, view.shard, view.relation)
        assert not engine.fold_view(plane, view.shard, view.relation)


def test_a_view_goes_on_where_history_is_gone(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "_ROWS", 1)
    hour = 3_600_000
    tables, inputs = _filled(plane)
    lower = worlds.over("SELECT a, b, s, d, f FROM t", inputs)
    below = worlds.as_input((lower, 0))
    upper = worlds.over("SELECT a, count(*) AS n FROM t GROUP BY a", {"t": below})
    worlds.hydrate(plane, lower, 20)
    worlds.hydrate(plane, upper, 20)
    for time in (hour, 4 * hour, 7 * hour):
        tables["t"].insert("(1, 7, 'x', null, null)", time)
        engine.step_view(plane, lower, time)
        engine.fold_view(plane, lower.shard, lower.relation)
    known = view_versions.require(plane, lower.shard)
    assert known.trimmed == known.since == 4 * hour
    assert engine.step_view(plane, upper, 7 * hour).how == "recompute"
    source = worlds.as_input((upper, 0))
    assert worlds.rows(plane, source, 7 * hour) == worlds.truth(plane, upper, 7 * hour)
    assert engine.step_view(plane, lower, 7 * hour).how == "nothing"
