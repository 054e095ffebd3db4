"""The first and last rows of keys in a log, beside what going through it row by row says."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from ingest.tables import log_rows
from ingest.tables.log_rows import NOWHERE

Key = tuple[str | None, ...]
_WIDTHS = (1, 2, 3)


def _tail(seed: int, width: int, truncates: int = 0) -> pa.Table:
    """A tail of 200 rows at about 30 times, of keys that differ in one part or in several."""
    chance = random.Random(seed)
    texts = ["a", "b", "1", "01", "", None]
    times = sorted(chance.randrange(30) for _ in range(200))
    keys: list[list[str | None] | None] = [
        [chance.choice(texts) for _ in range(width)] for _ in times
    ]
    ops = [chance.choice("iud") for _ in times]
    for place in chance.sample(range(len(times)), truncates):
        ops[place], keys[place] = "t", None
    columns = [pa.array(times), pa.array(ops), pa.array(keys, pa.list_(pa.string()))]
    parts = pa.Table.from_arrays(columns, ["time", "op", "key"])
    return pa.concat_tables([parts.slice(0, 70), parts.slice(70)])


def _keys(tail: pa.Table) -> list[Key]:
    return [tuple(key or ()) for key in tail["key"].to_pylist()]


@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("truncates", [0, 1, 3])
def test_the_newest_rows(width: int, truncates: int) -> None:
    tail = _tail(width, width, truncates)
    newest: dict[Key, int] = {}
    for place, (op, key) in enumerate(zip(tail["op"].to_pylist(), _keys(tail), strict=True)):
        if op == "t":
            newest.clear()
        else:
            newest[key] = place
    found, truncated = log_rows.newest(tail)
    assert found.tolist() == sorted(newest.values())
    assert truncated == (truncates > 0)


@pytest.mark.parametrize("width", _WIDTHS)
def test_the_first_rows(width: int) -> None:
    tail = _tail(10 + width, width)
    first: dict[Key, int] = {}
    for place, key in enumerate(_keys(tail)):
        first.setdefault(key, place)
    assert log_rows.first(tail).tolist() == sorted(first.values())


@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("after", [-1, 0, 12, 28, 40])
def test_what_became_of_each_key_at_each_time(width: int, after: int) -> None:
    tail = _tail(20 + width, width)
    newest: dict[Key, int] = {}
    turns: dict[tuple[Key, int], tuple[int, int, int]] = {}
    times = tail["time"].to_pylist()
    for place, (time, key) in enumerate(zip(times, _keys(tail), strict=True)):
        first, _, earlier = turns.get((key, time), (place, place, newest.get(key, NOWHERE)))
        if time > after:
            turns[key, time] = (first, place, earlier)
        newest[key] = place
    found = log_rows.turns(tail, after)
    made = zip(found.first.tolist(), found.last.tolist(), found.earlier.tolist(), strict=True)
    assert sorted(made) == sorted(turns.values())


def test_nothing_of_a_tail_that_ends_with_a_truncation() -> None:
    tail = pa.table({"op": ["i", "t"], "key": pa.array([["1"], None], pa.list_(pa.string()))})
    found, truncated = log_rows.newest(tail)
    assert found.tolist() == []
    assert truncated


def test_an_empty_tail() -> None:
    empty = _tail(1, 1).slice(0, 0)
    assert log_rows.newest(empty)[0].tolist() == []
    assert log_rows.first(empty).tolist() == []
    assert log_rows.turns(empty, 0).last.tolist() == []


def test_order() -> None:
    """Rows that are in order already, and some that are not, are so afterwards."""
    chance = random.Random(7)
    rows = [(time, place) for time in range(20) for place in range(4)]
    for _ in range(3):
        tail = pa.table([*zip(*rows, strict=True)], ["time", "seq"])
        found = log_rows.in_order(tail).to_pylist()
        assert [tuple(row.values()) for row in found] == sorted(rows)
        chance.shuffle(rows)
    assert log_rows.in_order(tail.slice(0, 0)).num_rows == 0


def test_some_rows_and_all() -> None:
    tail = pa.table({"n": [3, 1, 2]})
    assert log_rows.where(tail, pa.chunked_array([[True, False, True]]))["n"].to_pylist() == [3, 2]
    assert log_rows.where(tail, pa.chunked_array([[True] * 3])) is tail
    some = log_rows.where(tail, pa.chunked_array([[True, None, True]]))
    assert some["n"].to_pylist() == [3, 2]
    for places in ([0, 1, 2], [2, 1, 0], [1], []):
        found = log_rows.taken(tail["n"], np.array(places, np.int64))
        assert found.to_pylist() == [[3, 1, 2][place] for place in places]
