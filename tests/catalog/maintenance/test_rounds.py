"""Times and order of rounds, on made-up views."""

from __future__ import annotations

import pytest

from catalog.maintenance import graph, refreshing, rounds
from catalog.maintenance.graph import targets
from catalog.maintenance.kept import Kept
from catalog.maintenance.rounds import Shard, Work, look
from ingest import engine
from tests.catalog.maintenance.made import kept, shards

NOW = 1_000_000


def by_shard(*found: Kept) -> dict[str, Kept]:
    return {one.shard: one for one in found}


def test_what_hangs_together_shares_a_time() -> None:
    views = by_shard(
        kept("a", "f1"), kept("b", "f1", "f2"), kept("c", "b"), kept("d", "f3"), kept("e", "t1")
    )
    ends = {"f1": NOW - 5, "f2": NOW - 9, "f3": NOW - 1, "t1": NOW}
    found = targets(views, ends, NOW)
    assert found == {"a": NOW - 9, "b": NOW - 9, "c": NOW - 9, "d": NOW - 1, "e": NOW}


def test_a_feed_that_stands_still_holds_up_only_what_reads_it() -> None:
    views = by_shard(kept("a", "f1"), kept("b", "f1", "f2"), kept("c", "b", "a"))
    ends = {"f1": NOW - 5, "f2": NOW - graph.STALLED - 100}
    assert targets(views, ends, NOW) == {"a": NOW - 5, "b": ends["f2"], "c": ends["f2"]}


def test_a_replacement_shares_the_time_of_its_target() -> None:
    views = by_shard(kept("a", "f1"), kept("r", "f2", role="replacement", target="a"))
    assert targets(views, {"f1": NOW - 5, "f2": NOW - 9}, NOW) == {"a": NOW - 9, "r": NOW - 9}


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of inputs that have changed; the rest have not."""
    names: set[str] = set()
    monkeypatch.setattr(
        engine,
        "inputs_changed",
        lambda _, inputs, after, upto: bool(names & set(inputs)),
    )
    return names


def test_what_did_not_change_is_moved_on_together(changed: set[str]) -> None:
    found = shards(kept("a", "f1"), kept("b", "a"), kept("c", "b", "f1"))
    looked = look(found, dict.fromkeys(found, 20), 0.0)
    assert looked.moved == {"a": 20, "b": 20, "c": 20}
    assert looked.work == []


def test_views_are_stepped_before_what_reads_them(changed: set[str]) -> None:
    changed.add("f1")
    found = shards(kept("a", "f1"), kept("b", "a"), kept("c", "f2"))
    upto = dict.fromkeys(found, 20)
    first = look(found, upto, 0.0)
    assert first.work == [Work("a", 20)]
    assert first.moved == {"c": 20}
    found["a"].through, found["c"].through = 20, 20
    changed.add("a")
    assert look(found, upto, 0.0).work == [Work("b", 20)]


def test_a_view_waits_until_its_inputs_times_are_written(changed: set[str]) -> None:
    changed |= {"f2"}
    found = shards(kept("a", "f1"), kept("b", "a", "f2"))
    looked = look(found, dict.fromkeys(found, 20), 0.0)
    assert looked.moved == {"a": 20}
    assert looked.work == []


def test_a_slow_view_holds_up_only_what_reads_it(changed: set[str]) -> None:
    changed |= {"f1", "a", "c"}
    found = shards(kept("a", "f1"), kept("b", "a"), kept("c", "f1"), kept("d", "c"))
    found["a"].running = True
    found["c"].through = 20
    assert look(found, dict.fromkeys(found, 20), 0.0).work == [Work("d", 20)]


def test_what_is_furthest_behind_is_first(changed: set[str]) -> None:
    """A version that an undo waits for is late in the order, and never got a place."""
    changed.add("f1")
    found = shards(kept("a", "f1"), kept("b", "f1"), kept("c", "f1"))
    found["a"].through = found["b"].through = 15
    looked = look(found, dict.fromkeys(found, 20), 0.0)
    assert [work.shard for work in looked.work] == ["c", "a", "b"]


def test_a_failed_view_waits_for_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [15]
    monkeypatch.setattr(
        engine,
        "inputs_changed",
        lambda _, inputs, after, upto: any(after < time <= upto for time in changes),
    )
    one = Shard(kept("a", "f1"), 10, 5, 10, failed=20)
    assert look({"a": one}, {"a": 30}, 0.0) == rounds.Round()
    changes.append(25)
    assert look({"a": one}, {"a": 30}, 0.0).work == [Work("a", 30)]
    one.again = 100.0
    assert look({"a": one}, {"a": 30}, 99.0).work == []
    assert look({"a": one}, {"a": 30}, 100.0).work == [Work("a", 30)]


def test_a_stepped_view_rests(changed: set[str]) -> None:
    changed.add("f1")
    found = shards(kept("a", "f1"))
    found["a"].rested = 7.0
    assert look(found, {"a": 20}, 6.9) == rounds.Round()
    assert look(found, {"a": 20}, 7.0).work == [Work("a", 20)]


def test_constant_views_and_what_has_no_rows(changed: set[str]) -> None:
    changed.add("gone")
    found = shards(kept("one"), kept("b", "one", "f1"), kept("c", "gone"))
    assert look(found, dict.fromkeys(found, 20), 0.0).moved == {"b": 20}


def test_refreshes(changed: set[str]) -> None:
    changed.add("f1")
    found = shards(kept("a", "f1", options="refresh at creation"))
    assert look(found, {"a": 20}, 0.0).moved == {"a": 20}
    every = {"refresh every": "100"}
    assert not refreshing.due(every, 1000, 1000, 1099)
    assert refreshing.due(every, 1000, 1000, 1100)
    assert not refreshing.due(every, 1000, 1150, 1199)
    aligned = {**every, "refresh aligned to": "30"}
    assert refreshing.due(aligned, 1000, 1000, 1031)
    assert not refreshing.due(aligned, 1000, 1031, 1129)
    at = {"refresh at creation": "true", "refresh at": "1500,1700"}
    assert not refreshing.due(at, 1000, 1000, 1499)
    assert refreshing.due(at, 1000, 1000, 1500)
    assert not refreshing.due(at, 1000, 1501, 1699)
    assert refreshing.keeps_up({"retain history": "1"})
