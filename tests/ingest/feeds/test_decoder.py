"""The decoder and the collector, on a stream recorded from PostgreSQL 15."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ingest.contract.plane import Plane
from ingest.errors import Terminal
from ingest.feeds.postgres.collect import Collector
from ingest.feeds.postgres.decoder import Commit, Message, Relation, Row, Truncate, decode
from ingest.feeds.postgres.layout import Layout
from ingest.feeds.spool import Spool

RECORDED = Path(__file__).parent / "recorded.hex"


def recorded() -> list[Message]:
    return [decode(bytes.fromhex(line)) for line in RECORDED.read_text().split()]


def layouts() -> dict[int, Layout]:
    relations = {m.name: m for m in recorded() if isinstance(m, Relation)}
    keyed, full = relations["k"].oid, relations["f"].oid
    return {
        keyed: Layout(keyed, 3, (0, 1, 2), (0,), straight=True),
        full: Layout(full, 3, (0, 2), (), straight=False),
    }


def collected(tmp_path: Path) -> pa.Table:
    collector = Collector(layouts(), Spool(Plane("", str(tmp_path)), "f1"))
    for message in recorded():
        if isinstance(message, Row):
            assert collector.row(message) is None
        elif isinstance(message, Truncate):
            for oid in message.oids:
                collector.truncate(oid)
        elif isinstance(message, Commit):
            collector.commit(message.end)
    batch = collector.batch()
    assert batch is not None
    assert isinstance(batch.rows, pa.Table)
    assert collector.batch() is None
    return batch.rows


def test_every_kind_of_message_is_read() -> None:
    kinds = {type(message).__name__ for message in recorded()}
    assert kinds == {"Begin", "Commit", "Relation", "Row", "Truncate"}


def test_unchanged_toast_and_old_rows() -> None:
    rows = [m for m in recorded() if isinstance(m, Row)]
    assert rows[0].new is not None
    assert rows[0].new[1] == "é"
    assert rows[1].unchanged == [2]
    assert (rows[2].old, rows[2].whole) == (["1", None, None], False)
    assert (rows[6].old, rows[6].new, rows[6].whole) == (["1", None], ["1", "z"], True)


def test_a_message_that_was_not_asked_for_is_refused() -> None:
    with pytest.raises(Terminal, match="unknown replication message"):
        decode(b"S....")


def test_log_rows(tmp_path: Path) -> None:
    rows = collected(tmp_path).to_pylist()
    assert [row["op"] for row in rows] == ["i", "u", "d", "i", "d", "i", "i", "u", "d", "t", "t"]
    assert [row["seq"] for row in rows] == list(range(11))
    assert rows[1]["unchanged"] == [3]
    assert (rows[2]["key"], rows[3]["key"]) == (["1"], ["2"])
    assert rows[7]["before"] == ["1", None, None]
    assert rows[7]["after"] == ["1", None, "z"]
    assert rows[7]["key"] is None
    positions = [row["position"] for row in rows]
    assert positions == sorted(positions)
    assert positions[5] == positions[6]


def test_no_batch_ends_inside_a_transaction(tmp_path: Path) -> None:
    collector = Collector(layouts(), Spool(Plane("", str(tmp_path)), "f1"))
    for message in recorded()[:3]:
        if isinstance(message, Row):
            collector.row(message)
    assert collector.inside
    assert collector.batch() is None


def test_a_large_transaction_goes_through_the_spool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.feeds.postgres.collect._CHUNK", 10)
    collector = Collector(layouts(), Spool(Plane("", str(tmp_path)), "f1"))
    oid = next(iter(layouts()))
    for number in range(25):
        collector.row(Row("i", oid, None, [str(number), None, None]))
        assert len(list(tmp_path.rglob("*.parquet"))) == (number + 1) // 10
    collector.commit(77)
    batch = collector.batch()
    assert batch is not None
    assert not isinstance(batch.rows, pa.Table)
    assert (batch.rows.rows, batch.rows.position, batch.size) == (25, 77, 25)
