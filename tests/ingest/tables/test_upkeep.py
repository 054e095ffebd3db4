"""Folding, joining and trimming beside a writer that appends and readers that read."""

from __future__ import annotations

import datetime as dt
import shutil
import threading
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ingest import commits, delta, spark
from ingest.contract.commands import Export, Input, Query
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.errors import IngestError
from ingest.feeds import log
from ingest.tables import apply, frontier, moves, pending, reading, retention, tail, typed
from tests.ingest.tables.upstream import Upstream, export, rows, table

pytestmark = pytest.mark.spark


def _made(
    plane: Plane, *, keyed: bool, seed: int, count: int = 20, kind: Type | None = None
) -> tuple[Upstream, Input, Export]:
    feed, shard = f"f{uuid.uuid4().hex[:8]}", f"t{uuid.uuid4().hex[:8]}"
    upstream = Upstream(plane, feed, keyed=keyed, seed=seed)
    upstream.seed_base(shard, count, kind.spark if kind else "bigint")
    key = ("id",) if keyed else ()
    return upstream, table(feed, shard, key), export(shard, key)


def _forget() -> None:
    """What a process that starts knows: nothing."""
    commits._known.clear()
    tail._logs.clear()
    typed._known.clear()


@pytest.fixture(params=["rewritten", "merged"])
def folding(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bases are folded in two ways: small ones are written anew, others are merged into."""
    if request.param == "merged":
        monkeypatch.setattr(apply, "_REWRITTEN", 0)


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize("keyed", [True, False])
def test_upkeep_beside_a_writer_and_readers(plane: Plane, *, keyed: bool) -> None:
    upstream, source, definition = _made(plane, keyed=keyed, seed=3)
    stop = threading.Event()
    wrong: list[object] = []

    def keep_up() -> None:
        while not stop.is_set():
            try:
                retention.compact(plane, upstream.feed, 5)
                apply.apply(plane, upstream.feed, definition, max(upstream.history))
            except Exception as error:
                wrong.append(error)

    upkeep = threading.Thread(target=keep_up)
    upkeep.start()
    try:
        for number in range(12):
            upstream.batch(changes=6, truncate=number == 9)
            time = max(upstream.history)
            assert rows(plane, source, time) == upstream.history[time], time
    finally:
        stop.set()
        upkeep.join()
    assert not wrong
    known = delta.versions(delta.log_path(plane, upstream.feed))
    assert "OPTIMIZE" in {version.operation for version in known}
    assert len(delta.versions(delta.base_path(plane, source.shard))) > 1
    _forget()
    for time in sorted(upstream.history)[::4]:
        assert rows(plane, source, time) == upstream.history[time], time


def test_every_time_after_a_trim_stays_readable(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two folds the older base needs its tail, which a trim up to there must leave."""
    monkeypatch.setattr(retention, "_TRIM_STEP", 1)
    upstream, source, definition = _made(plane, keyed=True, seed=4)
    times = [upstream.batch(changes=5) for _ in range(6)]
    for fold in (times[1], times[4]):
        apply.apply(plane, upstream.feed, definition, fold)
    keep = retention.trimmable(plane, upstream.feed, [definition], times[3])
    assert keep == times[1]
    assert retention.trim(plane, upstream.feed, keep) > 0
    last = upstream.batch(changes=5)
    for fresh in (False, True):
        if fresh:
            _forget()
        for time in (times[1], times[3], times[4], last):
            assert rows(plane, source, time) == upstream.history[time], (time, fresh)
        with pytest.raises(IngestError, match="before the history that is kept"):
            rows(plane, source, times[0])
    known = delta.versions(delta.log_path(plane, upstream.feed))
    assert known[0].number > 0, "a process that starts does not read what is trimmed"


def test_a_table_without_changes_does_not_keep_the_log(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_TRIM_STEP", 1)
    upstream, _, definition = _made(plane, keyed=True, seed=5)
    idle = replace(definition, reference=4711)
    times = [upstream.batch(changes=3) for _ in range(4)]
    assert retention.trimmable(plane, upstream.feed, [definition, idle], times[2]) == 0
    apply.apply(plane, upstream.feed, definition, times[2])
    kept = retention.trimmable(plane, upstream.feed, [definition, idle], times[2])
    assert kept == times[2]
    absent = replace(definition, shard="nothing")
    assert retention.trimmable(plane, upstream.feed, [definition, absent], times[2]) == 0


def test_a_young_log_is_not_trimmed(plane: Plane) -> None:
    upstream, _, definition = _made(plane, keyed=True, seed=12)
    upstream.batch(changes=2)
    horizon = min(upstream.history) - 1
    assert retention.trimmable(plane, upstream.feed, [definition], horizon) == 0


@pytest.mark.usefixtures("folding")
def test_rows_set_aside_twice_are_kept_once(plane: Plane) -> None:
    """A fold that died between the quarantine and the base is done again, with more rows."""
    upstream, source, definition = _made(plane, keyed=True, seed=6)
    sent = upstream._logged("i", after=("901", "NaN", "never fits"))
    first = upstream.send([sent])
    known = frontier.at(plane, source.shard, 2**63 - 1)

    def set_aside(live: object) -> None:
        raw = tail.log(plane, upstream.feed).frame(live, source.reference, known, first)  # type: ignore[arg-type]
        base = moves.Base(live, plane, source, known.version)  # type: ignore[arg-type]
        found = pending.in_spark(raw, source, base)
        assert found is not None
        meta = delta.base_metadata(source.item, first, known.position)
        apply._quarantine(plane, source, found, meta, first)

    spark.run(plane, set_aside, "write", repeat=False)
    assert apply.count_quarantined(plane, source.shard) == 1
    second = upstream.send([upstream._logged("i", after=("902", "1e40", "too large"))])
    for _ in range(2):
        assert apply.apply(plane, upstream.feed, definition, second).quarantined == 2
    assert rows(plane, source, second) == upstream.now()


@pytest.mark.usefixtures("folding")
def test_one_number_written_in_two_ways_is_one_key(plane: Plane) -> None:
    """Upstream calls 1.0 -> 1.00 a change of the key: a delete and an insert of the same row."""
    kind = Type("numeric")
    upstream, source, definition = _made(plane, keyed=True, seed=7, kind=kind)
    columns = (replace(definition.columns[0], type=kind), *definition.columns[1:])
    definition = replace(definition, columns=columns)
    source = apply.as_input(upstream.feed, definition)
    upstream.rows = [row for row in upstream.rows if row[0] != "5"]
    upstream.rows.append(("5", "1.50", "again"))
    time = upstream.send(
        [
            upstream._logged("d", before=("5", None, None)),
            upstream._logged("i", after=("5.00", "1.50", "again")),
        ]
    )
    expected = upstream.now()
    assert Counter(rows(plane, source, time)) == expected
    apply.apply(plane, upstream.feed, definition, time)
    assert frontier.at(plane, source.shard, time).time == time
    assert rows(plane, source, time) == expected


def test_a_large_tail_is_joined_without_a_broadcast(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "MOST_ROWS", 5)
    monkeypatch.setattr(pending, "_BROADCAST", 5)
    for keyed in (True, False):
        upstream, source, definition = _made(plane, keyed=keyed, seed=8)
        upstream.batch(changes=40)
        assert rows(plane, source, upstream.time) == upstream.now()
        apply.apply(plane, upstream.feed, definition, upstream.time)
        assert rows(plane, source, upstream.time) == upstream.now()


def test_a_tail_that_only_adds_is_typed_once(plane: Plane) -> None:
    upstream, source, _ = _made(plane, keyed=False, seed=9)
    for number in range(3):
        row = (str(number), "1.50", "new")
        upstream.rows.append(row)
        upstream.send([upstream._logged("i", after=row), _bad(upstream)])
        assert rows(plane, source, upstream.time) == upstream.now()
    upstream.rows = [("7", None, "after")]
    after = upstream._logged("i", after=upstream.rows[0])
    upstream.send([upstream._logged("t"), after, _bad(upstream)])
    assert rows(plane, source, upstream.time) == upstream.now()
    known = [found.rows for place, found in typed._known.items() if place[1] == source]
    assert [found.num_rows for found in known] == [9]
    assert all(isinstance(found, pa.Table) for found in known)


def _bad(upstream: Upstream) -> dict[str, object]:
    return upstream._logged("i", after=("0", "NaN", "does not fit"))


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("truncate", [True, False])
def test_a_tail_may_leave_no_rows(plane: Plane, *, keyed: bool, truncate: bool) -> None:
    """Only deletes, only a truncation, or changes that undo each other."""
    upstream, source, _ = _made(plane, keyed=keyed, seed=14, count=3)
    gone = upstream.rows[0]
    sent = [upstream._logged("t" if truncate else "d", before=gone)]
    upstream.rows = [] if truncate else upstream.rows[1:]
    upstream.send(sent)
    assert rows(plane, source, upstream.time) == upstream.now()
    if not truncate:
        upstream.rows.append(gone)
        upstream.send([upstream._logged("i", after=gone)])
        assert rows(plane, source, upstream.time) == upstream.now()


@pytest.mark.parametrize("keyed", [True, False])
def test_a_typed_tail_keeps_the_types(plane: Plane, *, keyed: bool) -> None:
    """Arrow has no other name for a timestamp without time zone; Spark does."""
    upstream, source, definition = _made(plane, keyed=keyed, seed=13, count=0)
    kind = Type("timestamp")
    columns = (*definition.columns[:2], replace(definition.columns[2], type=kind))
    source = apply.as_input(upstream.feed, replace(definition, columns=columns))
    row = ("9001", "1.50", "2024-02-29 12:30:00.5")
    time = upstream.send([upstream._logged("i", after=row)])
    query = Query("select * from u1 where id = 9001", {"u1": source}, time)
    found = reading.read(plane, query)
    assert [column.type for column in found.relation.columns][2] == kind
    assert found.data["a note"].to_pylist() == [dt.datetime.fromisoformat("2024-02-29 12:30:00.5")]


def test_cleaning_leaves_what_recent_versions_use(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream, source, definition = _made(plane, keyed=True, seed=10)
    assert not retention.clean(plane, source.shard)
    upstream.batch(changes=10)
    apply.apply(plane, upstream.feed, definition, upstream.time)
    assert not retention.clean(plane, source.shard), "what a fold left is in use for two hours"
    for time in upstream.history:
        assert rows(plane, source, time) == upstream.history[time]
    base = Path(delta.base_path(plane, source.shard))
    before = len(list(base.rglob("part-*.parquet")))
    monkeypatch.setattr(retention, "_UNUSED_HOURS", 0)
    assert retention.clean(plane, source.shard)
    assert not retention.clean(plane, source.shard), "once an hour is enough"
    assert len(list(base.rglob("part-*.parquet"))) < before
    assert rows(plane, source, upstream.time) == upstream.now()


@pytest.mark.parametrize("rewritten", [True, False])
def test_what_a_base_weighs(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, *, rewritten: bool
) -> None:
    """From its snapshot on commits add, and a MERGE takes away too; a fold that writes it anew is
    all there is."""
    if not rewritten:
        monkeypatch.setattr(apply, "_REWRITTEN", 0)
    upstream, source, definition = _made(plane, keyed=True, seed=15, count=500)
    path = delta.base_path(plane, source.shard)
    first = delta.bytes_at_most(path)
    upstream.batch(changes=20)
    apply.apply(plane, upstream.feed, definition, upstream.time)
    live = spark.run(
        plane,
        lambda s: s.sql(" ".join(("DESCRIBE DETAIL", delta.name(path)))).collect(),
        repeat=True,
    )
    assert first
    assert delta.bytes_at_most(path) == live[0]["sizeInBytes"]
    assert delta.bytes_at_most(delta.log_path(plane, "nofeed")) is None


def test_a_large_base_waits_for_more() -> None:
    now = 1_000_000
    small = retention.Tail(20_000, 10, now, now, base=30 * 2**20)
    large = retention.Tail(99_999, 10, now, now, base=200 * 2**20)
    assert apply.due(small, now)
    assert not apply.due(large, now)
    assert apply.due(replace(large, rows=102_400), now)
    assert apply.due(replace(large, base=2**40, rows=apply.MOST_ROWS), now)
    assert apply.due(large, now + 600_000), "old enough"
    assert apply.MOST_ROWS < tail.MOST_ROWS


@pytest.fixture
def _often_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log has a checkpoint every ten commits, and they may be packed."""
    monkeypatch.setattr(commits, "PACKED", 5)
    monkeypatch.setitem(log._PROPERTIES, "delta.checkpointInterval", "10")


@pytest.mark.usefixtures("_often_packed")
def test_packed_commits_are_read_and_written_behind(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark is left with a checkpoint and what came after it, at once after one and later."""
    upstream, source, definition = _made(plane, keyed=True, seed=11)
    path = delta.log_path(plane, upstream.feed)
    now = 2**60
    for packed in (10, 10):
        while delta.latest(path) % 10 or delta.latest(path) == 0:
            upstream.batch(changes=3)
        assert commits.of(path).pack(0, now) == packed
        upstream.batch(changes=3)
    _forget()
    for time in upstream.history:
        assert rows(plane, source, time) == upstream.history[time], time
    monkeypatch.setattr(tail, "_MOST_FILES", 0)
    _forget()
    assert rows(plane, source, max(upstream.history)) == upstream.history[max(upstream.history)]
    apply.apply(plane, upstream.feed, definition, max(upstream.history))
    assert retention.compact(plane, upstream.feed, 5).after == 1
    upstream.batch(changes=3)
    _forget()
    for time in sorted(upstream.history)[::5]:
        assert rows(plane, source, time) == upstream.history[time], time


def test_a_shorter_read_leaves_the_longer_tail(plane: Plane) -> None:
    """A read AS OF an earlier time does not make the next newest one read its files again."""
    upstream, source, _ = _made(plane, keyed=True, seed=12)
    for _ in range(6):
        upstream.batch(changes=3)
    times = sorted(upstream.history)
    assert rows(plane, source, times[-1]) == upstream.history[times[-1]]
    held = tail.log(plane, upstream.feed)._rows
    longest = {key: upto for key, (upto, _) in held.items()}
    assert rows(plane, source, times[2]) == upstream.history[times[2]]
    assert {key: upto for key, (upto, _) in held.items()} == longest


@pytest.mark.usefixtures("_often_packed")
def test_a_tail_whose_commits_are_gone_is_folded_too(plane: Plane) -> None:
    """Nothing says how much a process that starts would find in it, so it counts as old."""
    upstream, source, definition = _made(plane, keyed=True, seed=13)
    path = delta.log_path(plane, upstream.feed)
    while delta.latest(path) < 10:
        upstream.batch(changes=3)
    commits.of(path).pack(0, 2**60)
    shutil.rmtree(Path(path) / "_packed")
    _forget()
    found = retention.tail_of(plane, upstream.feed, definition)
    assert found.rows > 0
    assert found.since == found.frontier
    newest = max(upstream.history)
    apply.apply(plane, upstream.feed, definition, newest)
    assert retention.tail_of(plane, upstream.feed, definition).frontier == newest
    assert rows(plane, source, newest) == upstream.history[newest]
