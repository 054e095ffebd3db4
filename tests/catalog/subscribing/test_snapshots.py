"""Snapshots brought on by the window, against adding up by hand."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

from catalog.subscribing.changes import consolidated, in_order, put_together
from catalog.subscribing.snapshots import Snapshots
from catalog.subscribing.window import Step, Window

Rows = Counter[tuple[int | None, str | None]]


def _table(rows: list[tuple[object, ...]], *kinds: pa.DataType) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return put_together([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)])


def _changes(rows: list[tuple[object, ...]]) -> pa.Table:
    return _table(rows, pa.int32(), pa.string(), pa.int64(), pa.int64())


def _state(rows: pa.Table) -> Rows:
    return Counter(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _never() -> pa.Table:
    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
def test_any_time_of_the_window(seed: int) -> None:
    pick = random.Random(seed)
    window, truth, at = Window(10), {10: Counter({(1, "a"): 2, (None, None): 1})}, 10
    for _ in range(8):
        upto = at + pick.randint(1, 5)
        state: Rows = Counter(truth[at])
        rows: list[tuple[object, ...]] = []
        for time in range(at + 1, upto + 1):
            for _ in range(pick.randint(0, 3)):
                row = pick.choice([(1, "a"), (2, "b"), (None, "c"), (None, None)])
                diff = pick.choice([1, 1, 2, -1]) if state[row] else 1
                state[row] += diff
                rows.append((*row, time, diff))
            truth[time] = Counter(state)
        made = in_order(consolidated(_changes(rows))) if rows else None
        window.add(Step(at, upto, made))
        at = upto
    snapshots = Snapshots(window, exact=True)
    first = _table(list(truth[10].elements()), pa.int32(), pa.string())
    assert _state(snapshots.at(10, lambda: first)) == +truth[10]
    for time in sorted(pick.sample(range(10, at + 1), 6)):
        assert _state(snapshots.at(time, _never)) == +truth[time], time


def test_a_step_is_not_taken_apart_where_times_are_not_exact() -> None:
    window = Window(10)
    window.add(Step(10, 20, _changes([(1, "a", 20, 1)])))
    snapshots = Snapshots(window, exact=False)
    nothing = _table([], pa.int32(), pa.string())
    snapshots.at(10, lambda: nothing)
    read_again = _table([(7, "read")], pa.int32(), pa.string())
    assert _state(snapshots.at(15, lambda: read_again)) == Counter({(7, "read"): 1})
    assert _state(Snapshots(window, exact=False).at(20, lambda: nothing)) == Counter()


def test_equal_rows_become_one_change() -> None:
    found = consolidated(
        _changes([(1, "a", 5, 1), (1, "a", 5, -1), (2, None, 5, 1), (2, None, 5, 1)])
    )
    assert [tuple(row.values()) for row in found.to_pylist()] == [(2, None, 5, 2)]


def test_equal_lists_become_one_change() -> None:
    lists = pa.array([[1, None], [1, None], [2]], pa.list_(pa.int32()))
    table = put_together([lists, pa.array([5, 5, 5]), pa.array([1, -1, 1])])
    assert [tuple(row.values()) for row in consolidated(table).to_pylist()] == [([2], 5, 1)]
