"""Who has a feed's log: batches of a writer that lost it, or that does not know what it wrote."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from ingest import delta
from ingest.contract.log import Commit, Succession
from ingest.contract.plane import Plane
from ingest.errors import Transient
from ingest.feeds.log import LOG_ROWS, Fenced, LogWriter
from ingest.tables.tail import Log


def batch(epoch: int, time: int, attempt: int = 0, *, rows: int = 1) -> Commit:
    return Commit("f", epoch, time, time, {"7": rows} if rows else {}, attempt=attempt)


@pytest.mark.parametrize(
    ("commits", "counted"),
    [
        ([batch(1, 0, rows=0), batch(1, 5), batch(1, 9)], [0, 5, 9]),
        ([batch(1, 5), batch(2, 5, rows=0), batch(1, 8), batch(2, 9)], [5, 5, 9]),
        ([batch(1, 5), batch(1, 5, 1, rows=0), batch(1, 8), batch(1, 9, 1)], [5, 5, 9]),
        ([batch(1, 5), batch(1, 8), batch(2, 5, rows=0), batch(2, 9)], [5, 8, 9]),
    ],
    ids=["one writer", "a newer epoch", "a newer attempt", "a claim that missed a batch"],
)
def test_what_counts(commits: list[Commit], counted: list[int]) -> None:
    succession = Succession()
    assert [commit.time for commit in commits if succession.takes(commit)] == counted
    assert succession.epoch == commits[-1].epoch


def rows(word: str) -> pa.Table:
    row = {"seq": 0, "reference": 7, "op": "i", "after": [word], "unchanged": [], "position": 1}
    return pa.Table.from_pylist([row], LOG_ROWS)


class Story:
    """One feed's log, written by several."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.feed = plane, f"f{uuid.uuid4().hex[:8]}"
        self.time = 100

    def writer(self, epoch: int) -> LogWriter:
        return LogWriter(self.plane, self.feed, epoch)

    def append(self, writer: LogWriter, epoch: int, word: str) -> None:
        self.time += 1
        commit = Commit(self.feed, epoch, self.time, self.time, {"7": 1})
        writer.append(rows(word), commit)

    def words(self) -> list[str]:
        """What a table of the log has."""
        log = Log(self.plane, self.feed)
        log.refresh()
        found = log.batches(-1, 2**62) or []
        names = [name for one in found for name in one.files]
        tables = [pa.parquet.read_table(delta.open_file(log.path, name)) for name in names]
        return [row[0] for table in tables for row in table["after"].to_pylist()]


@pytest.fixture
def story(plane: Plane) -> Story:
    return Story(plane)


def ahead_of_append(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object]) -> None:
    """Let something happen just ahead of the next append to a Delta table."""
    real = delta.append

    def append(frame: DataFrame, *rest: Any) -> None:
        monkeypatch.setattr(delta, "append", real)
        before()
        real(frame, *rest)

    monkeypatch.setattr(delta, "append", append)


@pytest.mark.spark
def test_a_batch_before_the_claim_counts(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old writer was told that it is durable, and has acknowledged it upstream."""
    old, new = story.writer(1), story.writer(2)
    old.open()
    story.append(old, 1, "a")
    ahead_of_append(monkeypatch, lambda: story.append(old, 1, "b"))
    last = new.open()
    assert last is not None
    assert last.upto == story.time
    with pytest.raises(Fenced):
        story.append(old, 1, "late")
    story.append(new, 2, "c")
    assert story.words() == ["a", "b", "c"]
    found = story.writer(3).open()
    assert found is not None
    assert found.upto == story.time


@pytest.mark.spark
def test_a_late_batch_is_void_for_the_next_writer_too(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that fenced it died at once, and took nothing back."""
    old, new = story.writer(1), story.writer(2)
    old.open()
    story.append(old, 1, "a")
    durable = story.time
    ahead_of_append(monkeypatch, new.open)
    with pytest.raises(Fenced):
        story.append(old, 1, "late")
    third = story.writer(3)
    last = third.open()
    assert last is not None
    assert last.upto == durable
    assert story.words() == ["a"]
    story.append(third, 3, "b")
    assert story.words() == ["a", "b"]


@pytest.mark.spark
@pytest.mark.parametrize("landed", [True, False])
def test_a_writer_that_lost_an_answer_asks_the_log(
    story: Story, monkeypatch: pytest.MonkeyPatch, *, landed: bool
) -> None:
    """It was committed behind the writer's back, or comes when the writer has gone on."""
    writer = story.writer(1)
    writer.open()
    story.append(writer, 1, "a")
    late: list[Callable[[], None]] = []
    real = delta.append

    def lost(frame: DataFrame, *rest: Any) -> None:
        monkeypatch.setattr(delta, "append", real)
        late.append(lambda: real(frame, *rest))
        raise Transient("the Spark server is not reachable")

    monkeypatch.setattr(delta, "append", lost)
    with pytest.raises(Transient):
        story.append(writer, 1, "b")
    unsure = [writer.unsure]
    if landed:
        late[0]()
    last = writer.open()
    assert last is not None
    assert [*unsure, writer.unsure] == [True, False]
    assert last.upto == (story.time if landed else story.time - 1)
    if not landed:
        late[0]()
        story.append(writer, 1, "b again")
    story.append(writer, 1, "c")
    assert story.words() == (["a", "b", "c"] if landed else ["a", "b again", "c"])
