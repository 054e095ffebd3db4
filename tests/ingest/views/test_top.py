"""The first rows of an ordered whole: known without Spark, beside sorting all of it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.views import Block, Ordered
from ingest.tables import apply, base_near, view_near
from ingest.views import incremental, incremental_top, stepping
from ingest.views.near import Near
from tests.ingest.tables.test_base_near import ROWS, Table, changes
from tests.ingest.views import worlds
from tests.ingest.views.test_partials import _change, _filled

Row = tuple[Any, ...]
NAMES = ("a", "b", "s")
ORDERED = (Ordered("b", descending=True), Ordered("s", nulls_first=True), Ordered("a"))
FIRST = "SELECT a, b, s FROM t ORDER BY b DESC, s LIMIT 3"


def _table(rows: Counter[Row], *, counts: list[int] | None = None) -> pa.Table:
    cells = list(zip(*rows, strict=True)) or [(), (), ()]
    kinds = (pa.int32(), pa.int64(), pa.string())
    arrays = [pa.array(cell, kind) for cell, kind in zip(cells, kinds, strict=True)]
    diffs = pa.array(list(rows.values()) if counts is None else counts, pa.int64())
    return pa.table([*arrays, diffs], ["c0", "c1", "c2", "mz_diff"])


def _place(row: Row) -> Row:
    a, b, s = row
    return (b is None, -(b or 0), s is not None, (s or "").encode(), a is None, a or 0)


def _sorted(rows: Counter[Row]) -> list[Row]:
    return sorted(rows.elements(), key=_place)


def _near(own: pa.Table | None) -> Near:
    def refuse(*_: Any) -> Any:
        raise AssertionError

    return Near(refuse, lambda: own, refuse, refuse, {}, (), refuse)


def _moved(limit: int, own: Counter[Row], changes: Counter[Row]) -> Counter[Row] | None:
    block = Block("topk", "", ordered=ORDERED, limit=limit, columns=NAMES)
    moved = _table(changes).rename_columns([*NAMES, "mz_diff"])
    placed = incremental_top.here(block, _near(_table(own)), moved, lambda: pytest.fail("asked"))
    assert placed is not None
    found = incremental_top.taken(placed, limit)
    if found is None:
        return None
    *cells, diffs = (found[name].to_pylist() for name in ("c0", "c1", "c2", "mz_diff"))
    return Counter(dict(zip(zip(*cells, strict=True), diffs, strict=True)))


def _drawn(dice: random.Random) -> Row:
    values = (dice.randrange(3), dice.randrange(5), "äbz"[dice.randrange(3)])
    return tuple(None if dice.random() < 0.2 else value for value in values)


@pytest.mark.parametrize("seed", range(40))
def test_as_by_sorting(seed: int) -> None:
    """Nulls, equal rows and rows that are not known are among them."""
    dice = random.Random(seed)
    limit = dice.choice([1, 3, 8])
    rows = Counter(_drawn(dice) for _ in range(dice.randrange(14)))
    for _ in range(4):
        own = Counter(_sorted(rows)[:limit])
        gone = Counter(row for row in rows.elements() if dice.random() < 0.2)
        came = Counter(_drawn(dice) for _ in range(dice.randrange(5)))
        changes = Counter({row: came[row] - gone[row] for row in {*came, *gone}})
        rows = +Counter({row: rows[row] + changes[row] for row in {*rows, *changes}})
        wanted = Counter(_sorted(rows)[:limit])
        moved = _moved(limit, own, changes)
        first = {
            row for row in {*own, *changes} if own and _place(row) <= _place(_sorted(own)[-1])
        }
        full = own.total() == limit
        assert (moved is None) == (full and sum(own[r] + changes[r] for r in first) < limit)
        if moved is None:
            continue
        assert moved == {
            row: wanted[row] - own[row] for row in {*wanted, *own} if wanted[row] != own[row]
        }


def test_rows_that_are_not_known_move_up() -> None:
    own = Counter({(1, 9, "x"): 1, (1, 8, "x"): 1})
    assert _moved(2, own, Counter({(1, 9, "x"): -1})) is None
    assert _moved(2, own, Counter({(1, 9, "x"): -1, (1, 7, "x"): 1})) is None
    assert _moved(2, own, Counter({(1, 9, "x"): -1, (1, 8, "y"): 5})) is None
    assert _moved(2, own, Counter({(1, 9, "x"): -1, (2, 9, "x"): 1})) == {
        (1, 9, "x"): -1,
        (2, 9, "x"): 1,
    }
    assert _moved(3, own, Counter({(1, 9, "x"): -1})) == {(1, 9, "x"): -1}


def test_what_only_spark_can_tell() -> None:
    """Floating-point numbers, which Spark takes for equal otherwise, and rows not known here."""
    block = Block("topk", "", ordered=ORDERED, limit=1, columns=NAMES)
    own = _table(Counter({(1, 9, "x"): 1}))
    changes = own.rename_columns([*NAMES, "mz_diff"])

    def asked() -> Any:
        raise AssertionError

    assert incremental_top.here(block, _near(None), changes, asked) is None
    floats = own.set_column(1, "c1", pa.array([0.5]))
    assert incremental_top.here(block, _near(floats), changes, asked) is None
    wide = changes.set_column(1, "b", pa.array(["no number"]))
    assert incremental_top.here(block, _near(own), wide, asked) is None


def test_changes_behind_the_last_row_are_left_out() -> None:
    """Before anything is done with them; not where rows are too few, or the last is not known."""
    rising = Block("topk", "", ordered=(Ordered("b"),), limit=2, columns=NAMES)
    falling = replace(rising, ordered=(Ordered("b", descending=True),))
    own = _table(Counter({(1, 3, "x"): 1, (1, 5, "x"): 1}))
    changes = _table(Counter({(1, value, "y"): 1 for value in (2, 3, 4, 5, 6, None)}))

    def left(block: Block, known: pa.Table) -> list[int | None]:
        return sorted(
            incremental_top._reaching(block, known, changes)["c1"].to_pylist(),
            key=lambda value: (value is None, value),
        )

    assert left(rising, own) == [2, 3, 4, 5, None]
    assert left(falling, own) == [3, 4, 5, 6, None]
    assert len(left(replace(rising, limit=3), own)) == 6
    assert len(left(rising, _table(Counter({(1, 3, "x"): 1, (1, None, "x"): 1})))) == 6


@pytest.mark.spark
@pytest.mark.parametrize("sql", [FIRST, FIRST.replace("FROM t", "FROM t WHERE b + 0 > 1")])
def test_a_step_without_spark(plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """Where there is a condition, Spark says what changed."""
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    monkeypatch.setattr(incremental_top, "first", None)
    monkeypatch.setattr(incremental.Change, "_again", None)
    monkeypatch.setattr(stepping, "_consolidated", None)
    _rise(tables)
    worlds.follow(plane, view, (31, 35))


@pytest.mark.spark
@pytest.mark.parametrize("known", [True, False])
def test_rows_that_move_up_are_computed(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    if not known:
        monkeypatch.setattr(view_near, "every", lambda *_: None)
    tables, view = _filled(plane, FIRST)
    worlds.hydrate(plane, view, 20)
    _change(tables)
    worlds.follow(plane, view, (31, 35, 45, 60))


def _rise(tables: dict[str, worlds.Table]) -> None:
    """Rows come above the first ones, others go below them."""
    t = tables["t"]
    t.insert("(5, 20, 'x', 1.00, 0.5), (6, 20, null, 1.00, 0.5), (7, 21, 'y', 1.00, 0.5)", 30)
    t.insert("(5, 20, 'x', 1.00, 0.5), (8, 30, 'x', null, null)", 32)
    t.update({"b": "b + 1"}, "b >= 20", 33)
    t.delete("b < 10 and b > 1", 34)


@pytest.fixture
def made(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(apply, "_REWRITTEN", 0)
    return Table(plane, ("tenant", "day", "label"))


@pytest.mark.spark
@pytest.mark.parametrize("limit", [4, 1000])
def test_only_known_rows_are_looked_up(
    made: Table, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """What a row was that is not among the first makes no difference; all are with few rows."""
    columns = "amount, label, day, tenant"
    view = worlds.over(
        f"SELECT {columns} FROM d WHERE amount > 1 ORDER BY amount DESC, label LIMIT {limit}",
        {"d": made.source},
    )
    worlds.hydrate(made.plane, view, made.time)
    asked: list[int] = []
    looked = base_near.rows

    def counted(*what: Any) -> pa.Table | None:
        asked.append(what[3].num_rows)
        return looked(*what)

    monkeypatch.setattr(base_near, "rows", counted)
    last = ROWS - 1
    for sent in (
        [*changes(1, 2, 3, last), ("d", 9, ""), ("i", 382, "900.00"), ("u", 12, "901.00")],
        [("d", 10, ""), ("u", 12, "902.00"), ("u", last - 1, "903.00")],
        [("u", 11, "11.50"), ("d", 12, "")],
        [("d", 382, ""), ("u", last, "904.00"), ("u", last - 1, "1.00"), ("i", 9, "9.00")],
    ):
        made.send(sent)
        step = engine.step_view(made.plane, view, made.time)
        found = worlds.rows(made.plane, worlds.as_input((view, 0)), made.time)
        assert found == worlds.truth(made.plane, view, made.time)
        assert step.how == "incremental"
    assert sum(asked) == (2 if limit < ROWS else 9)
