"""What a table's span adds and takes away, where upstream sent the old rows too."""

from __future__ import annotations

import itertools
import uuid
from collections import Counter
from typing import Any

import pytest

from ingest import spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import collection, net
from tests.ingest.tables.upstream import Upstream, shown, table

pytestmark = pytest.mark.spark


def _made(plane: Plane, seed: int) -> tuple[Upstream, Input]:
    feed, shard = f"f{uuid.uuid4().hex[:8]}", f"t{uuid.uuid4().hex[:8]}"
    upstream = Upstream(plane, feed, keyed=True, seed=seed)
    upstream.whole = upstream.full = True
    upstream.seed_base(shard, 30)
    return upstream, table(feed, shard, ("id",))


def _net(
    plane: Plane, source: Input, span: tuple[int, int], *names: str, raw: bool = False
) -> Counter[tuple[Any, ...]]:
    """The changes in sum. Each row comes once, unless `raw`."""

    def work(live: Any) -> list[tuple[Any, ...]]:
        found = net.of(plane, live, source, span, names or None, raw=raw)
        return [tuple(row) for row in found.rows.collect()]

    rows = spark.run(plane, work, repeat=True)
    assert raw or len({row[:-1] for row in rows}) == len(rows)
    summed: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        summed[row[:-1]] += row[-1]
    return Counter({row: count for row, count in summed.items() if count})


def _expected(upstream: Upstream, span: tuple[int, int]) -> Counter[tuple[Any, ...]]:
    found = Counter(upstream.history[span[1]])
    found.subtract(upstream.history[span[0]])
    return Counter({row: count for row, count in found.items() if count})


def test_the_base_is_not_asked(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream, source = _made(plane, 21)
    for _ in range(6):
        upstream.batch(changes=25)
    monkeypatch.setattr(collection, "at", None)
    times = sorted(upstream.history)
    for span in [*itertools.pairwise(times), (times[1], times[5]), (times[0], times[-1])]:
        expected = _expected(upstream, span)
        assert _net(plane, source, span) == expected, span
        assert _net(plane, source, span, raw=True) == expected, span
    notes: Counter[tuple[Any, ...]] = Counter()
    for row, count in _expected(upstream, (times[0], times[-1])).items():
        notes[row[2:]] += count
    span = (times[0], times[-1])
    assert _net(plane, source, span, "a note") == Counter({k: v for k, v in notes.items() if v})


def test_an_old_row_that_was_not_sent(plane: Plane) -> None:
    """As where the replica identity was changed in between."""
    upstream, source = _made(plane, 22)
    start = upstream.time
    upstream.batch(changes=20)
    upstream.full = False
    upstream.batch(changes=20)
    assert _net(plane, source, (start, upstream.time)) == _expected(
        upstream, (start, upstream.time)
    )


def test_an_old_row_that_the_table_never_had(plane: Plane) -> None:
    """It did not fit its types; what came instead does."""
    upstream, source = _made(plane, 23)
    bad, good = ("900", "NaN", "does not fit"), ("900", "1.50", "fits")
    upstream.send([upstream._logged("i", after=bad)])
    start = upstream.time
    upstream.rows.append(good)
    upstream.send([upstream._logged("u", before=bad, after=good)])
    span = (start, upstream.time)
    assert _net(plane, source, span) == _expected(upstream, span)


def test_a_new_row_that_does_not_fit(plane: Plane) -> None:
    upstream, source = _made(plane, 24)
    start, gone = upstream.time, upstream.rows.pop()
    upstream.send([upstream._logged("u", before=gone, after=(gone[0], "NaN", None))])
    span = (start, upstream.time)
    assert _net(plane, source, span) == _expected(upstream, span) == Counter({shown(gone): -1})


def test_what_came_and_went(plane: Plane) -> None:
    """A key that the span made and took away again, and one that is as it was."""
    upstream, source = _made(plane, 25)
    start, row = upstream.time, upstream.rows[0]
    other = (row[0], "7.00", "other")
    upstream.send(
        [
            upstream._logged("u", before=row, after=other),
            upstream._logged("i", after=("901", None, None)),
            upstream._logged("d", before=("901", None, None)),
            upstream._logged("u", before=other, after=row),
        ]
    )
    for raw in (False, True):
        assert _net(plane, source, (start, upstream.time), raw=raw) == Counter()
