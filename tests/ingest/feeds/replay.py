"""What a table holds by base and log alone: the reader's rule, in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ingest import delta, spark
from ingest.contract.commands import Export
from ingest.contract.plane import Plane

Cells = tuple[str | None, ...]


def log_rows(plane: Plane, feed: str, reference: int) -> list[dict[str, Any]]:
    """A reference's log rows in order."""
    live = spark.session(plane, "read")
    table = live.read.format("delta").load(delta.log_path(plane, feed)).toArrow()
    table = table.filter(pc.equal(table["reference"], reference))
    rows: list[dict[str, Any]] = table.sort_by(
        [("time", "ascending"), ("seq", "ascending")]
    ).to_pylist()
    return rows


def base_rows(plane: Plane, export: Export) -> pa.Table:
    """The base, every column as text."""
    live = spark.session(plane, "read")
    return live.read.format("delta").load(delta.base_path(plane, export.shard)).toArrow()


def contents(plane: Plane, feed: str, export: Export, position: int) -> Counter[Cells]:
    """The table's rows as a multiset of text; integers and text columns only."""
    rows = base_rows(plane, export).to_pylist()
    names = [column.name for column in export.columns]
    found: Counter[Cells] = Counter(tuple(_text(row[name]) for name in names) for row in rows)
    keys = [names.index(name) for name in export.key]
    for row in log_rows(plane, feed, export.reference):
        assert isinstance(row["position"], int)
        if row["position"] > position:
            _apply(found, keys, row)
    return +found


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _apply(found: Counter[Cells], keys: list[int], row: dict[str, object]) -> None:
    if row["op"] == "t":
        found.clear()
        return
    before, after, key = row["before"], row["after"], row["key"]
    if row["op"] == "i":
        before = None
    if isinstance(before, list):
        found[tuple(before)] -= 1
    elif isinstance(key, list) and row["op"] != "i":
        old = next(cells for cells in +found if [cells[k] for k in keys] == key)
        found[old] -= 1
        for index in row["unchanged"] or ():  # type: ignore[attr-defined]
            assert isinstance(after, list)
            after[index - 1] = old[index - 1]
    if isinstance(after, list):
        found[tuple(after)] += 1
