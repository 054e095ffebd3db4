"""A keyed table's changes made of its log in memory; Spark only types the log's new rows, and
looks up in the base those old rows that neither the log knows nor upstream sent.

Who follows a table that changes all the time takes a step every moment, and in Spark alone each
step reads the whole log and the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import cast, collection, frontier, ranges, tail, told, typed
from ingest.tables.schema import DIFF, TIME, quoted

MOST_ROWS = 150_000
"""Rows of a tail that are gone through in each step; folding may be late when much changes."""
_BASE = -1
"""Instead of a place in the log: the key's row is the base's, if that has one."""


@dataclass
class _Steps:
    """What became of a key at a time: the place in the log of its row afterwards, and of the one
    before, or `_BASE`. `first` is the place of the time's first row of the key."""

    times: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)


def in_memory(
    plane: Plane, live: SparkSession, source: Input, after: int, upto: int
) -> pa.Table | None:
    """The columns, mz_timestamp and mz_diff of what changed with `after` < time <= `upto` (ms),
    consolidated; None where it takes Spark to know it."""
    if not source.feed or not _simple(source):
        return None
    base = frontier.at(plane, source.shard, after)
    log = tail.log(plane, source.feed)
    log.reach(after)
    raw = log.rows(source.reference, base, upto, most=MOST_ROWS)
    if raw is None or raw.num_rows == 0 or not told.plain(raw):
        return None
    values = typed.rows(live, plane, source, base, raw)
    steps = _steps(raw, after)
    there = pc.and_(pc.not_equal(raw["op"], "d"), values["__fits"]).to_pylist()
    rows = values.select(list(source.relation.names))
    found = [
        _taken(rows, [(p, t) for p, t in zip(steps.new, steps.times, strict=True) if there[p]], 1),
        _taken(
            rows,
            [(p, t) for p, t in zip(steps.old, steps.times, strict=True) if p >= 0 and there[p]],
            -1,
        ),
    ]
    fresh = pc.equal(raw["op"], "i").to_pylist()
    unknown = [
        place
        for place, old in enumerate(steps.old)
        if old == _BASE and not fresh[steps.first[place]]
    ]
    if unknown:
        times = [steps.times[place] for place in unknown]
        sent = told.before(raw, [steps.first[place] for place in unknown], source)
        if sent is None:
            keys = values.select([f"__key_{i}" for i in range(len(source.key))])
            places = pa.array([steps.new[place] for place in unknown], pa.int64())
            within = ranges.of(raw["key"].take(places), source)
            whole = collection.base(plane, live, source, base.version)
            asked = whole if within is None else whole.where(within)
            found.append(_of_base(live, asked, source, (keys.take(places), times, rows.schema)))
        else:
            own = sent.rename_columns(rows.column_names).cast(rows.schema)
            found.append(_stamped(own, times, -1))
    return told.consolidated(pa.concat_tables(found))


def _simple(source: Input) -> bool:
    """Whether rows have a key that is known by its text, and columns that Arrow can compare."""
    plain = not any(column.type.array for column in source.columns)
    return bool(source.key) and plain and cast.known_by_text(source)


def _steps(raw: pa.Table, after: int) -> _Steps:
    """What the ordered tail does to each key at each time > `after`."""
    found, newest, last = _Steps(), dict[tuple[str, ...], int](), dict[tuple[str, ...], int]()
    times = raw["time"].to_pylist()
    for place, (time, cells) in enumerate(zip(times, raw["key"].to_pylist(), strict=True)):
        key = tuple(cells)
        number = last.get(key)
        if time > after and number is not None and found.times[number] == time:
            found.new[number] = place
        elif time > after:
            last[key] = len(found.times)
            found.times.append(time)
            found.first.append(place)
            found.old.append(newest.get(key, _BASE))
            found.new.append(place)
        newest[key] = place
    return found


def _taken(rows: pa.Table, places: Sequence[tuple[int, int]], diff: int) -> pa.Table:
    """Rows by place and time, as changes."""
    taken = rows.take(pa.array([place for place, _ in places], pa.int64()))
    return _stamped(taken, [time for _, time in places], diff)


def _of_base(
    live: SparkSession,
    base: DataFrame,
    source: Input,
    what: tuple[pa.Table, list[int], pa.Schema],
) -> pa.Table:
    """The base's rows of some keys, which go at a time each."""
    keys, times, wanted = what
    numbers = pa.array(range(keys.num_rows), pa.int64())
    known = live.createDataFrame(keys.append_column("__n", numbers).combine_chunks())
    names = [quoted(name) for name in source.relation.names]
    found = base.join(F.broadcast(known), collection.same_key(source)).select(*names, "__n")
    data, _ = found._to_table()  # type: ignore[operator]  # noqa: SLF001
    gone = [times[number] for number in data["__n"].to_pylist()]
    return _stamped(data.drop_columns(["__n"]).cast(wanted), gone, -1)


def _stamped(rows: pa.Table, times: Sequence[int], diff: int) -> pa.Table:
    stamps = pa.array(times, pa.int64())
    diffs = pa.array([diff] * rows.num_rows, pa.int64())
    return rows.append_column(TIME, stamps).append_column(DIFF, diffs)
