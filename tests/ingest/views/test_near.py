"""A shard's rows of some keys, without Spark."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ingest import engine, spark
from ingest.contract.plane import Plane
from ingest.contract.views import View
from ingest.tables import view_hidden, view_near, view_rows, view_versions
from ingest.tables.view_versions import Hidden
from ingest.views import folding, incremental_folds, incremental_sums
from ingest.views.incremental_held import brought
from tests.ingest.views import worlds
from tests.ingest.views.test_partials import AVERAGES, UTMOST, _change, _filled

pytestmark = pytest.mark.spark

Cells = list[tuple[Any, ...]]
GROUPS = {
    "one": "SELECT a, avg(b) AS x, sum(d) AS y FROM t GROUP BY a",
    "two": "SELECT s, a, avg(d) AS x FROM t GROUP BY s, a",
    "numeric": "SELECT d, avg(b) AS x FROM t GROUP BY d",
    "date": "SELECT date '2026-01-01' + a AS day, sum(b) AS x FROM t GROUP BY 1",
    "plain": "SELECT a, count(*) AS n, sum(b) AS x FROM t GROUP BY a",
}
BROUGHT = [
    "SELECT a, count(*) AS n, avg(d) AS x, max(b) AS y FROM t WHERE b + 0 > 1 GROUP BY a",
    "SELECT u.s, count(*) AS n, sum(t.d) AS x, min(b) AS y FROM t JOIN u ON t.a = u.a GROUP BY 1",
    "SELECT a, s FROM t WHERE b + 0 > 1 UNION SELECT a, s FROM u",
    "SELECT a, sum(c) AS x FROM (SELECT a, b AS c FROM t UNION ALL SELECT a, c FROM u) AS b"
    " GROUP BY a",
]
"""Groups of which Spark says what changed in them."""


def _shard(plane: Plane, view: View) -> tuple[Hidden, Cells]:
    """What the shard has hidden, and all of its newest rows."""
    known = view_versions.require(plane, view.shard)
    places = tuple(view.root.columns.index(name) for name in view.root.output_key)
    hidden = known.hidden or Hidden((), (), (), places)

    def work(live: SparkSession) -> Cells:
        rows = view_hidden.newest(plane, live, known, view.relation, hidden)
        return [tuple(row.values()) for row in rows.toArrow().to_pylist()]

    return hidden, spark.run(plane, work, "views", repeat=True)


def _near(plane: Plane, view: View, hidden: Hidden, keys: Cells) -> Cells:
    known = view_versions.require(plane, view.shard)
    table = pa.table(
        [list(column) for column in zip(*keys, strict=True)], list("kl")[: len(keys[0])]
    )
    found = view_near.rows(plane, known, view.relation, hidden, table)
    assert found is not None
    return [tuple(row.values()) for row in found.to_pylist()]


@pytest.mark.parametrize("kind", list(GROUPS))
def test_rows_of_some_keys(plane: Plane, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """From the base alone, the base and a tail, and after a fold; null is a key like others."""
    monkeypatch.setattr(folding, "_ROWS", 1)
    monkeypatch.setattr(incremental_folds, "_of_keys", None)
    tables, view = _filled(plane, GROUPS[kind])
    worlds.hydrate(plane, view, 20)
    seen: set[tuple[Any, ...]] = set()
    for upto in (20, 35, 45, 60):
        if upto == 35:
            _change(tables)
        step = engine.step_view(plane, view, upto)
        assert (step.how, step.reason) == ("nothing" if upto == 20 else "incremental", "")
        if upto == 45:
            assert engine.fold_view(plane, view.shard, view.relation)
        hidden, rows = _shard(plane, view)
        keys = {tuple(row[place] for place in hidden.key) for row in rows}
        seen |= keys
        for wanted in (seen, {key for key in seen if None in key}, keys - {next(iter(keys))}):
            expected = [row for row in rows if tuple(row[p] for p in hidden.key) in wanted]
            if wanted:
                found = _near(plane, view, hidden, sorted(wanted, key=repr))
                assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_what_only_spark_can_tell(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Floating-point keys, and a base that is large."""
    tables, view = _filled(plane, "SELECT f, avg(b) AS x FROM t GROUP BY f")
    worlds.hydrate(plane, view, 20)
    known = view_versions.require(plane, view.shard)
    hidden, _ = _shard(plane, view)
    keys = pa.table({"k": [0.5]})
    assert view_near.rows(plane, known, view.relation, hidden, keys) is None
    tables, view = _filled(plane, GROUPS["one"])
    worlds.hydrate(plane, view, 20)
    known, keys = view_versions.require(plane, view.shard), pa.table({"k": [1]})
    assert view_near.rows(plane, known, view.relation, _shard(plane, view)[0], keys) is not None
    monkeypatch.setattr(view_near, "_MOST_ROWS", 1)
    assert view_near.rows(plane, known, view.relation, _shard(plane, view)[0], keys) is None
    _change(tables)
    assert engine.step_view(plane, view, 35).how == "incremental"
    assert worlds.rows(plane, worlds.as_input((view, 0)), 35) == worlds.truth(plane, view, 35)


def test_keys_that_are_known_here_are_not_asked_of_spark(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental_folds, "brought", None)
    monkeypatch.setattr(incremental_folds, "_of_keys", None)
    tables, view = _filled(plane, GROUPS["two"])
    worlds.hydrate(plane, view, 20)
    _change(tables)
    worlds.follow(plane, view, (35, 45, 60))


@pytest.mark.parametrize(
    ("sql", "here"),
    [(AVERAGES, False), (UTMOST, False), *((sql, True) for sql in (AVERAGES, UTMOST, *BROUGHT))],
)
def test_what_is_known_here_is_brought_together_here(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str, *, here: bool
) -> None:
    """Spark, which does it where only it can, comes to the same."""
    if here:
        monkeypatch.setattr(incremental_folds, "_merged", None)
    else:
        monkeypatch.setattr(incremental_sums, "merged", lambda *_: None)
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    _change(tables)
    worlds.follow(plane, view, (31, 35, 45, 60))


def test_greatest_values_that_stay_take_no_job_of_their_own(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether one may have gone is known here; where it has, its group is read again."""
    tables, view = _filled(plane, "SELECT a, max(b) AS high, count(*) AS n FROM t GROUP BY a")
    worlds.hydrate(plane, view, 20)
    asked: list[StructType] = []

    def told(rows: DataFrame, kinds: StructType) -> pa.Table:
        asked.append(kinds)
        return brought(rows, kinds)

    monkeypatch.setattr(incremental_folds, "brought", told)
    table = tables["t"]
    table.update({"b": "b + 1"}, "b IS NOT NULL", 31)
    high = max(row[1] for row in worlds.rows(plane, table.input, 35) if row[1] is not None)
    table.delete(" ".join(("b =", str(high))), 41)
    worlds.follow(plane, view, (35,))
    assert not asked
    worlds.follow(plane, view, (45,))
    assert len(asked) == 1


def test_steps_do_not_differ_in_the_code_that_spark_makes(plane: Plane) -> None:
    """What a step makes anew Spark compiles anew, and runs cold."""
    relation = worlds.relation(("a", "bigint"), ("s", "text"))

    def code(live: SparkSession, time: int, step: str) -> list[str]:
        rows = live.range(10).selectExpr("id AS a", "string(id) AS s", "1L AS mz_diff")
        frame = view_rows.stored(view_rows.net(rows, relation.names), relation, time, step)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            frame.explain("codegen")
        made = re.findall(r"^/\* \d+ \*/(.*)", shown.getvalue(), re.MULTILINE)
        return [line for line in made if not line.strip().startswith("//")]

    with spark.alone(plane, "views") as live:
        live.conf.set("spark.sql.adaptive.enabled", "false")
        one, other = code(live, 1_795_000_000_123, "x"), code(live, 77, "y")
    assert len(one) > 100
    assert one == other
