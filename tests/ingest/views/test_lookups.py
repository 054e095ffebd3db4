"""Changes that are joined with tables by their keys: the rows are looked up without Spark."""

from __future__ import annotations

import pytest

from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.views import Step, View
from ingest.tables import apply, keyed_near
from ingest.views import incremental, incremental_folds, incremental_top
from tests.ingest.tables.test_base_near import Table, changes
from tests.ingest.views import worlds

pytestmark = pytest.mark.spark

FACTS = worlds.relation(("tenant", "int"), ("day", "date"), ("label", "text"), ("n", "int"))
ON = "ON d.tenant = f.tenant AND d.day = f.day AND f.label = d.label"
GROUPED = " ".join(
    ("SELECT d.amount, count(*) AS c, sum(f.n) AS n FROM f JOIN d", ON, "GROUP BY d.amount")
)
SOME = " ".join(
    (
        "SELECT f.label, max(d.amount) AS m FROM f JOIN d", ON,
        "AND d.amount > 2 WHERE n > 1 GROUP BY f.label",
    )
)  # fmt: skip
FIRST = " ".join(("SELECT f.n, d.amount FROM f JOIN d", ON, "ORDER BY n DESC, amount LIMIT 4"))
TWICE = " ".join(
    (
        "SELECT e.tenant, e.label, sum(f.n) AS n FROM f JOIN d", ON, "JOIN d AS e",
        "ON e.label = d.label AND e.tenant = f.tenant AND e.day = d.day GROUP BY 1, 2",
    )
)  # fmt: skip
ROWS = (
    "(1, date '2026-01-02', 'l1', 10), (1, date '2026-01-02', 'l1', 4),"
    " (2, date '2026-01-03', 'l2', 3), (null, date '2026-01-03', 'l2', 1), (3, null, 'l3', 7),"
    " (99, date '2026-01-03', 'l2', 30)"
)


@pytest.fixture
def dimension(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(apply, "_REWRITTEN", 0)
    return Table(plane, ("tenant", "day", "label"))


def _over(dimension: Table, sql: str) -> tuple[worlds.Table, View]:
    facts = worlds.Table(dimension.plane, FACTS)
    facts.insert(ROWS, dimension.time)
    view = worlds.over(sql, {"f": facts.input, "d": dimension.source})
    worlds.hydrate(dimension.plane, view, dimension.time)
    return facts, view


def _step(dimension: Table, view: View, time: int) -> Step:
    step = engine.step_view(dimension.plane, view, time)
    source = worlds.as_input((view, 0))
    found = worlds.rows(dimension.plane, source, time)
    assert found == worlds.truth(dimension.plane, view, time)
    assert (step.how, step.reason) == ("incremental", "")
    return step


@pytest.mark.parametrize("sql", [GROUPED, SOME, FIRST])
def test_spark_is_not_asked(dimension: Table, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """Rows without a partner, and with null in the key, give nothing; the dimension has a tail."""
    facts, view = _over(dimension, sql)
    dimension.send(changes(1, 2))
    _step(dimension, view, dimension.time + 1)
    monkeypatch.setattr(incremental_folds, "held", None)
    monkeypatch.setattr(incremental_top, "held", None)
    monkeypatch.setattr(incremental.Change, "_term", None)
    time = dimension.time + 10
    facts.insert("(3, date '2026-01-04', 'l3', 8), (1, date '2026-01-02', 'l1', 40)", time)
    facts.insert(
        "(null, date '2026-01-03', 'l2', 50), (98, date '2026-01-03', 'l2', 60)", time + 1
    )
    assert _step(dimension, view, time + 2).added > 0
    facts.update({"n": "n + 1"}, "tenant = 1 or tenant is null", time + 3)
    _step(dimension, view, time + 4)


def test_both_sides_change(dimension: Table) -> None:
    """Then Spark says what changed: each side with the other as it was, or is."""
    facts, view = _over(dimension, GROUPED)
    dimension.send([*changes(1, 2), ("d", 3, "")])
    facts.update({"n": "n + 1", "label": "'l3'"}, "tenant = 2", dimension.time)
    facts.insert(
        "(3, date '2026-01-04', 'l3', 8), (1, date '2026-01-02', 'l1', 4)", dimension.time
    )
    assert _step(dimension, view, dimension.time + 1).added > 0


def test_two_lookups(dimension: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one table twice, once for what was looked up before."""
    facts, view = _over(dimension, TWICE)
    monkeypatch.setattr(incremental_folds, "held", None)
    facts.update({"n": "n + 1"}, "tenant = 1", dimension.time + 1)
    assert _step(dimension, view, dimension.time + 2).added > 0


def test_only_keys_are_looked_up(dimension: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several rows could be found, Spark joins."""
    facts, view = _over(
        dimension, "SELECT d.day, sum(f.n) AS n FROM f JOIN d ON d.label = f.label GROUP BY 1"
    )
    monkeypatch.setattr(keyed_near, "rows", None)
    facts.update({"n": "n + 1"}, "tenant = 1", dimension.time + 1)
    assert _step(dimension, view, dimension.time + 2).added > 1
