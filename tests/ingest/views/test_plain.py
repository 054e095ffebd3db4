"""Changes of groups that are made without Spark, beside making the groups anew."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType

from ingest import engine
from ingest.contract.plane import Plane
from ingest.contract.views import Block
from ingest.views import incremental_known, incremental_plain
from ingest.views.incremental_sums import Merged, merged, shape
from tests.ingest.views import worlds
from tests.ingest.views.test_partials import _check, _filled
from tests.ingest.views.test_sums import ARROW, BLOCK, _changes, _group, _kinds, _stored

PLAIN = replace(BLOCK, copied=("k1", "s1", "s2", "s3", "s4", "s5"))
Groups = dict[Any, list[Any]]


def _made(
    block: Block, changes: list[tuple[Any, ...]], before: Groups, kind: str, *, hidden: int
) -> pa.Table | None:
    """What the groups `before`, of values, become by changes of them."""
    arrow, value, total, stored_total = ARROW[kind]
    there = {key: _group(values) for key, values in before.items()}
    own, kinds = _stored(there, arrow, stored_total), _kinds(value, total, block.folds)
    found = merged(block, _changes(changes, arrow), own, kinds)
    assert found is not None
    return incremental_plain.changes(block, found, own, (shape(block, kinds), kinds), hidden)


def _rows(groups: Groups) -> set[tuple[Any, ...]]:
    return {(key, *_group(values)) for key, values in groups.items() if values}


def _after(before: Groups, changes: list[tuple[Any, ...]]) -> Groups:
    counts = Counter((key, value) for key, values in before.items() for value in values)
    for key, value, diff in changes:
        counts[key, value] += diff
    found: Groups = {}
    for (key, value), times in counts.items():
        found.setdefault(key, []).extend([value] * times)
    return found


@pytest.mark.parametrize("kind", list(ARROW))
@pytest.mark.parametrize("seed", range(5))
def test_as_made_anew(kind: str, seed: int) -> None:
    """Groups that come, go and stay, with nulls; none loses its least or greatest value."""
    dice = random.Random(seed)

    def value() -> Any:
        number = dice.randrange(-50, 50)
        drawn = Decimal(number) / 4 if kind == "numeric" else number
        return None if dice.random() < 0.2 else drawn

    ends = [Decimal(-60), Decimal(60)] if kind == "numeric" else [-60, 60]
    keys = [None, "", "b", "ä", "e", "f"]
    before = {key: [*ends, *(value() for _ in range(4))] for key in keys[:3]}
    before["ä"] = [value()]
    changes = [(key, gone, -1) for key in keys[:3] for gone in before[key][2:4]]
    changes += [("ä", before["ä"][0], -1)]
    changes += [(dice.choice(keys[4:]), value(), dice.choice([1, 3])) for _ in range(5)]
    changes += [("", 7, 1), ("", 7, -1)] if kind == "integer" else []
    made = _made(PLAIN, changes, before, kind, hidden=0)
    assert made is not None
    was, now = _rows(before), _rows(_after(before, changes))
    rows = {tuple(row.values()) for row in made.to_pylist()}
    assert rows == {(*row, 1) for row in now - was} | {(*row, -1) for row in was - now}


def test_what_is_hidden() -> None:
    """A row that goes has no hidden values; one of which nothing else changed comes with 0."""
    before = {"a": [1, 9], "b": [1, 9], "c": [4]}
    changes = [("a", 5, 1), ("b", 9, 1), ("b", 9, -1), ("c", 4, -1), ("d", 2, 1)]
    made = _made(PLAIN, changes, before, "integer", hidden=3)
    assert made is not None
    assert {tuple(row.values()) for row in made.to_pylist()} == {
        ("a", 2, 2, None, None, None, -1),
        ("a", 3, 3, 15, 1, 9, 1),
        ("c", 1, 1, None, None, None, -1),
        ("d", 1, 1, 2, 2, 2, 1),
    }
    made = _made(PLAIN, [("a", 5, 1), ("a", 6, -1)], {"a": [1, 6, 9]}, "integer", hidden=3)
    assert made is not None
    assert made.to_pylist()[0]["mz_diff"] == 0
    assert made.num_rows == 1


def test_what_only_spark_can_tell() -> None:
    """Columns that are made of others, groups that are not counted, numbers too large."""
    before, changes = {"a": [1, 9]}, [("a", 5, 1)]
    assert _made(PLAIN, changes, before, "integer", hidden=0) is not None
    assert _made(BLOCK, changes, before, "integer", hidden=0) is None
    uncounted = replace(PLAIN, folds=PLAIN.folds[1:])
    assert _made(uncounted, changes, before, "integer", hidden=0) is None
    most = 2**63 - 1
    kinds = _kinds(LongType(), LongType())
    none = _stored({}, pa.int32(), pa.int32())
    found = merged(PLAIN, _changes([("x", most, 1)], pa.int64()), none, kinds)
    assert isinstance(found, Merged)
    kinds_of = (shape(PLAIN, kinds), kinds)
    assert incremental_plain.changes(PLAIN, found, none, kinds_of, 0) is None


UNION = "SELECT a, s FROM t WHERE b > 1 UNION SELECT a, s FROM u"
GREATEST = "SELECT s, max(d) AS x, sum(d) AS y FROM t GROUP BY s"
RENAMED = "SELECT x.n AS many, x.a AS who FROM (SELECT a, count(*) AS n FROM t GROUP BY a) AS x"


@pytest.mark.spark
@pytest.mark.parametrize("sql", [UNION, GREATEST, RENAMED])
def test_spark_makes_nothing_of_them(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    tables, view = _filled(plane, sql)
    worlds.hydrate(plane, view, 20)
    t = tables["t"]
    t.insert("(9, 9, 'z', 9.99, 0.1), (1, 50, 'x', 70.00, 1.0), (null, 3, null, 99.00, 1.0)", 30)
    monkeypatch.setattr(incremental_known, "changes", None)
    step = engine.step_view(plane, view, 35)
    assert (step.how, step.reason) == ("incremental", "")
    t.insert("(8, 8, 'q', 1.00, 0.1)", 40)
    t.delete("a = 8", 41)
    t.update({"d": "d + 1", "b": "b + 1"}, "a = 1", 42)
    worlds.follow(plane, view, (45,))
    _check(plane, view, (20, 35, 45))
