"""A keyed table's rows of some keys at a time, found in this process.

Changes that are joined with a table by its key ask it for few rows. Spark takes tenths of a second
to plan such a join, and reads all of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import base_near, frontier, log_changes, log_rows, tail, told, typed
from ingest.tables.view_near import same_by_bytes


def rows(  # noqa: PLR0913
    live: SparkSession,
    plane: Plane,
    source: Input,
    time: int,
    keys: pa.Table,
    names: Sequence[str],
) -> pa.Table | None:
    """The rows at `time` (ms) whose key is one of the `keys`, which are not null and in the
    table's order: the key's columns and `names`. None where it takes Spark to know them.

    Raises IngestError 22023 before the table's history.
    """
    wanted = list(dict.fromkeys([*source.key, *names]))
    if not source.feed or not log_changes.simple(source, wanted):
        return None
    base = frontier.at(plane, source.shard, time)
    log = tail.log(plane, source.feed)
    log.reach(base.time)
    raw = log.rows(source.reference, base, time)
    if raw is None or not told.plain(raw):
        return None
    fresh = raw.num_rows > 0
    values = typed.rows(live, plane, source, base, raw) if fresh else typed.cast_here(source, raw)
    if values is None:
        return None
    shape = pa.schema([values.schema.field(name) for name in wanted])
    try:
        same_by_bytes(keys)
        asked = keys.rename_columns(list(source.key)).cast(
            pa.schema([shape.field(name) for name in source.key])
        )
        found = base_near.rows(plane, source, base.version, asked, shape)
        if found is None:
            return None
        held = found.drop_columns([base_near.NUMBER])
        return _newer(held, asked, raw, values) if fresh else held
    # What cannot be compared or cast here Spark can.
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def _newer(held: pa.Table, asked: pa.Table, raw: pa.Table, values: pa.Table) -> pa.Table:
    """The base's rows `held`, and what became of the keys that are asked for in the tail."""
    names = asked.column_names
    newest, _ = log_rows.newest(raw)
    last = values.take(newest)
    there = pc.and_(pc.not_equal(raw["op"].take(newest), "d"), last["__fits"])
    own = last.select([f"__key_{place}" for place in range(len(names))]).rename_columns(names)
    kept = held.join(own, names, join_type="left anti", use_threads=False)
    new = last.filter(there).select(held.column_names)
    new = new.join(asked, names, join_type="left semi", use_threads=False)
    return pa.concat_tables([kept.select(held.column_names), new.select(held.column_names)])
