"""A keyed table's net changes made of its log alone, where upstream sent the old rows too.

Under replica identity FULL each update and delete brings the row as it was, so that what a span
took away is known without the base: what a step then costs depends on what changed, not on the
table's size.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import arrow_cast, cast, pending, typed
from ingest.tables.frontier import Frontier
from ingest.tables.schema import DIFF

Key = tuple["str | None", ...]


def net(
    session: SparkSession, plane: Plane, source: Input, start: Frontier, raw: pa.Table
) -> pa.Table | None:
    """What the ordered tail `raw` after `start` adds and takes away: the source's columns by place
    (`c0`, ..) and mz_diff, not consolidated. None where it takes the base to know it."""
    if not source.key or not cast.known_by_text(source) or not _sent(raw) or not plain(raw):
        return None
    ops, keys = raw["op"].to_pylist(), [tuple(key) for key in raw["key"].to_pylist()]
    old = before(raw, [place for place in _first(keys) if ops[place] != "i"], source)
    if old is None:
        return None
    newest, _ = pending.newest_of(ops, keys)
    kept = pa.array([place for place in newest.values() if ops[place] != "d"], pa.int64())
    values = typed.rows(session, plane, source, start, raw).take(kept)
    new = values.filter(values["__fits"]).select(list(source.relation.names))
    new = new.rename_columns(old.column_names)
    return pa.concat_tables([_times(new, 1), _times(old.cast(new.schema), -1)])


def consolidated(changes: pa.Table) -> pa.Table:
    """Equal rows as one, without those whose differences cancel out; mz_diff is the last column,
    and every other one has to be equal."""
    wide = changes.rename_columns([str(place) for place in range(changes.num_columns)])
    *columns, diff = wide.column_names
    summed = wide.group_by(columns, use_threads=False).aggregate([(diff, "sum")])
    whole = summed.select([*columns, f"{diff}_sum"]).rename_columns(changes.column_names)
    return whole.filter(pc.not_equal(whole[DIFF], 0))


def plain(raw: pa.Table) -> bool:
    """Whether there is no truncation, and no row without values that upstream left out."""
    left_out = pc.greater(pc.fill_null(pc.list_value_length(raw["unchanged"]), 0), 0)
    return not pc.any(pc.or_(pc.equal(raw["op"], "t"), left_out)).as_py()


def _sent(raw: pa.Table) -> bool:
    """Whether upstream sent an old row at all, or has had none to send."""
    some = raw["before"].null_count < raw.num_rows
    return some or bool(pc.all(pc.equal(raw["op"], "i")).as_py())


def _first(keys: Sequence[Key]) -> list[int]:
    """The place of each key's first row."""
    found: dict[Key, int] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, place)
    return list(found.values())


def before(raw: pa.Table, places: Sequence[int], source: Input) -> pa.Table | None:
    """The old rows at these places, typed, by place (`c0`, ..); None when upstream did not send
    all of them, or one of them may be none of the table's rows because it does not fit."""
    old = raw["before"].take(pa.array(places, pa.int64())).combine_chunks()
    if old.null_count:
        return None
    values = arrow_cast.values(old, source.columns)
    if values is None:
        return None
    return pa.Table.from_arrays(values, names=[f"c{place}" for place in range(len(values))])


def _times(rows: pa.Table, diff: int) -> pa.Table:
    counts = pa.repeat(pa.scalar(diff, pa.int64()), rows.num_rows)
    return rows.append_column(DIFF, counts)
