"""A keyed table's rows of some keys at a time, without Spark, beside what a query says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from ingest import spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.errors import IngestError
from ingest.tables import apply, base_near, keyed_near, tail
from tests.ingest.tables.test_base_near import Rows, Table, changes

pytestmark = pytest.mark.spark

KEY = ("tenant", "day", "label")


@pytest.fixture
def made(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(apply, "_REWRITTEN", 0)
    return Table(plane, KEY)


def _asked(made: Table, rows: Rows) -> pa.Table:
    """The keys of these rows, and one that no row has."""
    keys = sorted({row[:3] for row in rows})
    columns = [list(column) for column in zip(*keys, strict=True)]
    columns = [[*column, column[0]] for column in columns[:2]] + [[*columns[2], "none"]]
    return pa.table([pa.array(column) for column in columns], list("abc"))


def _rows(made: Table, source: Input, time: int, keys: pa.Table, *names: str) -> pa.Table | None:
    def work(live: Any) -> pa.Table | None:
        return keyed_near.rows(live, made.plane, source, time, keys, names)

    return spark.run(made.plane, work, repeat=True)


def _found(made: Table, time: int, keys: pa.Table, *names: str) -> list[tuple[object, ...]] | None:
    found = _rows(made, made.source, time, keys, *names)
    if found is None:
        return None
    assert found.column_names == [*KEY, *(name for name in names if name not in KEY)]
    return sorted(tuple(row.values()) for row in found.to_pylist())


def test_the_rows_of_a_time(made: Table) -> None:
    """Of the base, changed behind it, gone, come, and gone and come again; before and after a
    fold."""
    every = made.rows(made.time)
    for _ in range(2):
        made.send([*changes(1, 2, 300), ("d", 4, ""), ("d", 5, ""), ("i", 382, "1.00")])
        between = made.time
        made.send([("u", 2, "9.50"), ("i", 4, "4.00"), ("d", 382, "")])
        for time in (between, made.time):
            rows = made.rows(time)
            every |= rows
            some = Rows(dict(list(every.items())[::3]))
            for asked in (every, some):
                keys = {row[:3] for row in asked}
                expected = sorted((*row[:3], row[3]) for row in rows if row[:3] in keys)
                assert _found(made, time, _asked(made, asked), "amount", "day") == expected
        made.send([("d", 4, ""), ("i", 5, "5.25")])
        made.fold()
        made.send([("u", 5, "5.00"), ("i", 4, "4.00")])
        made.send([("i", 382, "1.00"), ("d", 382, "")])


def test_what_only_spark_can_tell(made: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of no feed, a truncated one, a large tail or base, keys of another type."""
    rows = made.rows(made.time)
    keys = _asked(made, rows)
    assert _found(made, made.time, keys) is not None
    plain = replace(made.source, feed="")
    assert _rows(made, plain, made.time, keys) is None
    other = keys.set_column(0, "a", pa.array([0.5] * keys.num_rows))
    assert _found(made, made.time, other) is None
    with monkeypatch.context() as patched:
        patched.setattr(base_near, "_MOST_BYTES", 0)
        assert _found(made, made.time, keys) is None
    made.send(changes(1))
    with monkeypatch.context() as patched:
        patched.setattr(tail, "MOST_ROWS", 0)
        assert _found(made, made.time, keys) is None
    assert _found(made, made.time, keys) is not None
    made.send([("t", 1, "")])
    assert _found(made, made.time, keys) is None
    with pytest.raises(IngestError, match="before the table's history"):
        _found(made, -1, keys)
