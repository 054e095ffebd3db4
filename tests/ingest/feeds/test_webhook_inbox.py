"""The inbox without Spark: files whole or not there, numbered, taken once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest import engine
from ingest.contract.inbox import Accepted
from ingest.contract.plane import Plane
from ingest.errors import Transient
from ingest.feeds.webhooks.files import Files
from ingest.feeds.webhooks.inbox import Drain

FEED = "f1"


@pytest.fixture
def plane(tmp_path: Path) -> Plane:
    return Plane("", str(tmp_path))


def one(text: str) -> Accepted:
    return Accepted(7, ((text, None),))


def texts(
    drain: Drain, taken: dict[str, int] | None = None, most: int = 2**40
) -> list[str | None]:
    batches = drain.waiting(taken or {}, most)
    return [row[0] for b in batches for r in b.requests for row in r.rows]


def test_what_is_written_waits(plane: Plane) -> None:
    inbox = engine.open_inbox(plane, FEED, "a")
    inbox.write([one("1"), one('zwei "\n\\')])
    inbox.write([one("3")])
    engine.open_inbox(plane, FEED, "b").write([one("4")])
    drain = Drain(plane, FEED)
    assert texts(drain) == ["1", 'zwei "\n\\', "3", "4"]
    assert texts(drain, {"a": 1}) == ["3", "4"]
    assert texts(drain, {"a": 1}) == ["3", "4"]
    assert texts(drain, {"b": 1}, 1) == ["3"]


def test_what_is_done_is_gone(plane: Plane, tmp_path: Path) -> None:
    inbox = engine.open_inbox(plane, FEED, "a")
    inbox.write([one("1")])
    drain = Drain(plane, FEED)
    drain.done(drain.waiting({}, 2**40))
    assert texts(drain) == []
    folder = tmp_path / "feeds" / FEED / "inbox" / "a"
    (folder / ".000000000009.json").write_text("half a fi")
    drain.tidy()
    assert drain.writers() == ["a"]
    drain.tidy(now=2**40)
    assert drain.writers() == []
    inbox.write([one("2")])
    assert texts(drain) == ["2"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "feeds").write_text("")
    with pytest.raises(Transient):
        engine.open_inbox(Plane("", str(tmp_path)), FEED, "a").write([one("1")])


def test_nothing_yet(plane: Plane) -> None:
    assert texts(Drain(plane, FEED)) == []


def test_a_file_that_another_feed_took(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = engine.open_inbox(plane, FEED, "a")
    for number in range(3):
        inbox.write([one(str(number))])
    drain, read = Drain(plane, FEED), Files.read

    def gone(files: Files, folder: str, name: str) -> bytes:
        if name.startswith("000000000002"):
            raise FileNotFoundError
        return read(files, folder, name)

    monkeypatch.setattr(Files, "read", gone)
    assert texts(drain) == ["0"]
