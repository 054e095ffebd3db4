"""Any run of upstream changes, read at any time, before and after every kind of upkeep."""

from __future__ import annotations

import itertools
import uuid
from collections import Counter

import pytest

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import apply, changes, frontier, log_changes, retention, tail
from tests.ingest.tables.upstream import Upstream, export, rows, table

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("keyed", "seed", "rewritten"), [(True, 1, True), (True, 3, False), (False, 2, True)]
)
def test_every_time_reads_as_it_was(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, *, keyed: bool, seed: int, rewritten: bool
) -> None:
    if not rewritten:
        monkeypatch.setattr(apply, "_REWRITTEN", 0)
    feed, shard = f"f{uuid.uuid4().hex[:8]}", f"t{uuid.uuid4().hex[:8]}"
    key = ("id",) if keyed else ()
    upstream = Upstream(plane, feed, keyed=keyed, seed=seed)
    upstream.seed_base(shard, 40)
    source, definition = table(feed, shard, key), export(shard, key)
    assert rows(plane, source, upstream.time) == upstream.now()
    for number in range(6):
        upstream.batch(changes=25, truncate=number == 4)
    _check(plane, upstream, source)

    middle = sorted(upstream.history)[3]
    for _ in range(2):
        assert apply.apply(plane, feed, definition, middle).frontier == middle
        assert frontier.at(plane, shard, middle).time == middle
    _check(plane, upstream, source)

    upstream.batch(changes=30)
    apply.apply(plane, feed, definition, upstream.time)
    upstream.batch(changes=10)
    _check(plane, upstream, source)

    before = upstream.time
    retention.trim(plane, feed, sorted(upstream.history)[-2])
    upstream.batch(changes=5)
    for time in (before, upstream.time):
        assert rows(plane, source, time) == upstream.history[time]


def _check(plane: Plane, upstream: Upstream, source: Input) -> None:
    for time in upstream.history:
        assert rows(plane, source, time) == upstream.history[time], time


@pytest.mark.parametrize("keyed", [True, False])
def test_a_large_tail_is_reduced_in_spark(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, *, keyed: bool
) -> None:
    feed, shard = f"f{uuid.uuid4().hex[:8]}", f"t{uuid.uuid4().hex[:8]}"
    upstream = Upstream(plane, feed, keyed=keyed, seed=7)
    upstream.seed_base(shard, 20)
    for _ in range(3):
        upstream.batch(changes=20)
    monkeypatch.setattr(tail, "MOST_ROWS", 5)
    source = table(feed, shard, ("id",) if keyed else ())
    assert rows(plane, source, upstream.time) == upstream.now()
    upstream.batch(changes=5, truncate=True)
    upstream.batch(changes=5)
    assert rows(plane, source, upstream.time) == upstream.now()


@pytest.mark.parametrize(
    ("keyed", "whole", "full"),
    [(True, False, False), (False, False, False), (True, True, False), (True, True, True)],
)
def test_changes_add_up(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, *, keyed: bool, whole: bool, full: bool
) -> None:
    """A keyed table's are made in memory, where upstream sent whole rows and truncated nothing,
    and without the base where it sent the old rows too."""
    if whole:
        monkeypatch.setattr(changes, "frame", None)
    if full:
        monkeypatch.setattr(log_changes, "_by_spark", None)
    feed, shard = f"f{uuid.uuid4().hex[:8]}", f"t{uuid.uuid4().hex[:8]}"
    upstream = Upstream(plane, feed, keyed=keyed, seed=11)
    upstream.whole, upstream.full = whole, full
    upstream.seed_base(shard, 15)
    start = upstream.time
    for number in range(5):
        upstream.batch(changes=12, truncate=not whole and number == 3)
    source = table(feed, shard, ("id",) if keyed else ())
    after = sorted(upstream.history)[1]
    found = changes.changes(plane, source, after, upstream.time).data.to_pylist()
    times = [time for time in sorted(upstream.history) if time >= after]
    held = Counter(upstream.history[after])
    for earlier, later in itertools.pairwise(times):
        moved = [tuple(row.values()) for row in found if row["mz_timestamp"] == later]
        assert len({row[:-2] for row in moved}) == len(moved)
        for row in moved:
            assert row[-1] != 0
            held[row[:-2]] += row[-1]
        assert +held == upstream.history[later], (earlier, later)
    assert {row["mz_timestamp"] for row in found} <= set(times[1:])
    monkeypatch.undo()
    assert changes.changes(plane, source, start, start).data.num_rows == 0
