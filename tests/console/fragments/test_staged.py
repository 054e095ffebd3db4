"""What a replacement would change, in numbers and rows."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from catalog.reads import ColumnRow, ItemRow, StatusRow, ViewRow
from catalog.results import Rows
from console.fragments.changes import changes
from console.fragments.guarding import typed
from console.fragments.staged import Shown, percent_words, rule, verdict
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type

RELATION = Relation(
    (
        Column("mz_diff", Type("bigint")),
        Column("id", Type("bigint")),
        Column("note", Type("text")),
    )
)


NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
COLUMNS = (
    ColumnRow("id", "bigint", nullable=False, position=1),
    ColumnRow("note", "text", nullable=True, position=2),
)


def _target(*key: str, columns: tuple[ColumnRow, ...] = COLUMNS) -> ViewRow:
    item = ItemRow("u1", "materialized view", "h", "p", "v", "ada", NOW, "", "")
    return ViewRow(
        item=item,
        target=None,
        cluster="quickstart",
        columns=columns,
        key=key,
        status=StatusRow("u1", "running", "", "", "", NOW),
        hydrated=True,
        sealed=False,
        readable_from=0,
        complete_through=0,
        rows=10,
        bytes=0,
        percent=100,
        rate=0.0,
        how="",
        reason="",
        cancelled=False,
    )


def _rows(*rows: tuple[int, int, str | None]) -> Rows:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    data = pa.table(
        {
            "mz_diff": pa.array(columns[0], pa.int64()),
            "id": pa.array(columns[1], pa.int64()),
            "note": pa.array(columns[2], pa.string()),
        }
    )
    return Rows("SELECT", RELATION, data, timestamp=5000)


ROWS = _rows((-1, 1, "old"), (1, 2, "new"), (1, 1, "changed"), (-1, 3, None))


def test_both_sides_of_a_changed_row_stand_together() -> None:
    found = changes(ROWS, _target("id"), "all", 100)
    assert [group.kind for group in found.groups] == ["changed", "added", "removed"]
    before, after = found.groups[0].rows
    assert [(cell.text, cell.marked) for cell in before.cells] == [("1", False), ("old", True)]
    assert [(cell.text, cell.marked) for cell in after.cells] == [("1", False), ("changed", True)]
    assert found.groups[2].rows[0].cells[1].text == "NULL"
    assert (found.read, found.more, found.timestamp) == (4, False, 5000)


def test_what_is_there_has_nothing_in_new_columns() -> None:
    found = changes(ROWS, _target("id", columns=COLUMNS[:1]), "all", 100)
    before, after = found.groups[0].rows
    assert [(cell.text, cell.marked) for cell in before.cells] == [("1", False), ("", False)]
    assert after.cells[1].marked


def test_without_a_key_nothing_is_told_as_changed() -> None:
    kinds = [group.kind for group in changes(ROWS, _target(), "all", 100).groups]
    assert kinds == ["removed", "added", "added", "removed"]


def test_one_kind_alone() -> None:
    found = changes(ROWS, _target("id"), "added", 100)
    assert [group.kind for group in found.groups] == ["added"]
    assert found.total == 3
    assert not changes(_rows(), _target("id"), "all", 100).shown
    assert changes(ROWS, _target("id"), "all", 4).more


@pytest.mark.parametrize(
    ("percent", "words"),
    [(0, "0 %"), (0.01, "< 0.1 %"), (2.14, "2.1 %"), (34.4, "34 %"), (99.99, "> 99.9 %")],
)
def test_percent(percent: float, words: str) -> None:
    assert percent_words(percent) == words


def test_the_bar_is_whole() -> None:
    for counts in ((0, 0, 0), (1, 0, 0), (0, 5, 5), (100, 100, 800), (9, 1, 1)):
        shown = Shown(*counts, bytes=0, as_of=0, of=1000)
        assert all(bar.x >= 0 and bar.width > 0 for bar in shown.bars)
        ends = [bar.x + bar.width for bar in shown.bars]
        assert not ends or ends[-1] == 1000
    assert Shown(5, 0, 0, 0, 0, of=0).share == "\N{EN DASH}"


def test_the_verdict_follows_the_limits() -> None:
    shown = Shown(5, 5, 0, 0, 0, of=100)
    assert verdict(shown, {}) is None
    assert verdict(None, {"rows": 1}) is None
    for guard, look in (
        ({"rows": 9}, "warn"),
        ({"rows": 10}, "ok"),
        ({"percent": 9.9}, "warn"),
        ({"percent": 10}, "ok"),
    ):
        told = verdict(shown, guard)
        assert told is not None
        assert told.look == look, guard
    assert rule({"rows": 1000, "percent": None, "window": [120, 240]}) == (
        "by itself, up to 1,000 rows, 02:00-04:00 UTC"
    )


def test_typed_guard_rails() -> None:
    assert typed({"max_rows": "5"}).options == ()
    found = typed({"automatic": "1", "max_rows": "1 000", "window": "2:00 \N{EN DASH} 4:00"})
    assert [(one.name, one.value) for one in found.options] == [
        ("APPLY WHEN HYDRATED", True),
        ("MAX ROWS", "1000"),
        ("WINDOW", "02:00-04:00"),
    ]
    wrong = typed({"automatic": "1", "max_rows": "-1", "max_percent": "x", "window": "noon"})
    assert set(wrong.wrong) == {"max_rows", "max_percent", "window"}
