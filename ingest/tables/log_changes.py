"""A keyed table's changes made of its log in memory. Old rows that neither the log knows nor
upstream sent are looked up in the base.

Who follows a table that changes all the time takes a step every moment, and in Spark alone each
step reads the whole log and the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import (
    arrow_cast,
    base_near,
    cast,
    collection,
    frontier,
    ranges,
    schema,
    tail,
    told,
    typed,
)
from ingest.tables.schema import DIFF, TIME, quoted

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
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    names: Sequence[str] | None = None,
) -> pa.Table | None:
    """What changed within `span` (ms; after its first time, and up to its last one): the columns
    `names` (None: all), mz_timestamp and mz_diff, consolidated. None where it takes Spark to know
    it."""
    after, upto = span
    wanted = list(source.relation.names if names is None else names)
    if not source.feed or not _simple(source, wanted):
        return None
    base = frontier.at(plane, source.shard, after)
    log = tail.log(plane, source.feed)
    log.reach(after)
    raw = log.rows(source.reference, base, upto)
    if raw is None or raw.num_rows == 0 or not told.plain(raw):
        return None
    values = typed.rows(live, plane, source, base, raw)
    steps = _steps(raw, after)
    there = pc.and_(pc.not_equal(raw["op"], "d"), values["__fits"]).to_pylist()
    rows = values.select(wanted)
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
        (first, new, time)
        for first, new, time, old in zip(
            steps.first, steps.new, steps.times, steps.old, strict=True
        )
        if old == _BASE and not fresh[first]
    ]
    if unknown:
        firsts, places, times = (list(each) for each in zip(*unknown, strict=True))
        sent = told.before(raw, firsts, source)
        if sent is not None:
            own = sent.rename_columns(list(source.relation.names)).select(wanted)
            found.append(_stamped(own.cast(rows.schema), times, -1))
        else:
            asked = pa.array(places, pa.int64())
            keys = values.select([f"__key_{i}" for i in range(len(source.key))]).take(asked)
            within = ranges.of(raw["key"].take(asked), source)
            old = _of_base(plane, live, source, (base.version, keys, rows.schema, within))
            gone = [times[number] for number in old[base_near.NUMBER].to_pylist()]
            found.append(_stamped(old.drop_columns([base_near.NUMBER]), gone, -1))
    return told.consolidated(pa.concat_tables(found))


def _of_base(
    plane: Plane,
    live: SparkSession,
    source: Input,
    what: tuple[int, pa.Table, pa.Schema, Column | None],
) -> pa.Table:
    """The rows of some keys, all of which are `within`; see `base_near.rows`."""
    version, keys, wanted, within = what
    old = base_near.rows(plane, source, version, keys, wanted)
    if old is not None:
        return old
    whole = collection.base(plane, live, source, version)
    asked = whole if within is None else whole.where(within)
    return _by_spark(live, asked, source, (keys, wanted))


def _simple(source: Input, names: Sequence[str]) -> bool:
    """Whether rows have a key that is known by its text, and columns that Arrow can compare."""
    plain = not any(column.type.array for column in source.columns if column.name in names)
    return bool(source.key) and plain and cast.known_by_text(source)


def _steps(raw: pa.Table, after: int) -> _Steps:
    """What the ordered tail does to each key at each time > `after`."""
    found, last = _Steps(), dict[tuple[str, ...], int]()
    begin = pc.sum(pc.less_equal(raw["time"], after)).as_py()
    span = raw.slice(begin)
    newest = _before(raw.slice(0, begin), span)
    times = span["time"].to_pylist()
    for place, (time, cells) in enumerate(zip(times, span["key"].to_pylist(), strict=True), begin):
        key = tuple(cells)
        number = last.get(key)
        if number is not None and found.times[number] == time:
            found.new[number] = place
        else:
            last[key] = len(found.times)
            found.times.append(time)
            found.first.append(place)
            found.old.append(newest.get(key, _BASE))
            found.new.append(place)
        newest[key] = place
    return found


def _before(tail: pa.Table, span: pa.Table) -> dict[tuple[str, ...], int]:
    """The place of each key's newest row, of the keys that the span after the tail may touch."""
    first, touched = (arrow_cast.cells(part["key"].combine_chunks(), 0) for part in (tail, span))
    places = pc.indices_nonzero(pc.is_in(first, touched)).to_pylist()
    keys = tail["key"].take(pa.array(places, pa.int64())).to_pylist()
    return {tuple(key): place for place, key in zip(places, keys, strict=True)}


def _taken(rows: pa.Table, places: Sequence[tuple[int, int]], diff: int) -> pa.Table:
    """Rows by place and time, as changes."""
    taken = rows.take(pa.array([place for place, _ in places], pa.int64()))
    return _stamped(taken, [time for _, time in places], diff)


def _by_spark(
    live: SparkSession, base: DataFrame, source: Input, what: tuple[pa.Table, pa.Schema]
) -> pa.Table:
    """`base_near.rows`, of a base of any size."""
    keys, wanted = what
    numbers = pa.array(range(keys.num_rows), pa.int64())
    asked = keys.append_column(base_near.NUMBER, numbers)
    known = F.broadcast(live.createDataFrame(asked.combine_chunks()))
    names = [quoted(name) for name in wanted.names]
    found = base.join(known, collection.same_key(source)).select(*names, base_near.NUMBER)
    return schema.collected(found).cast(wanted.append(pa.field(base_near.NUMBER, pa.int64())))


def _stamped(rows: pa.Table, times: Sequence[int], diff: int) -> pa.Table:
    stamps = pa.array(times, pa.int64())
    diffs = pa.array([diff] * rows.num_rows, pa.int64())
    return rows.append_column(TIME, stamps).append_column(DIFF, diffs)
