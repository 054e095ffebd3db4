"""A keyed table's changes made of its log in memory. Old rows that neither the log knows nor
upstream sent are looked up in the base.

Who follows a table that changes all the time takes a step every moment, and in Spark alone each
step reads the whole log and the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import spark
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import (
    base_near,
    cast,
    collection,
    frontier,
    log_rows,
    ranges,
    schema,
    tail,
    told,
    typed,
)
from ingest.tables.log_rows import NOWHERE, Places
from ingest.tables.schema import DIFF, TIME, quoted


def in_memory(  # noqa: PLR0913
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    names: Sequence[str] | None = None,
    among: pa.Table | None = None,
) -> pa.Table | None:
    """What changed within `span` (ms; after its first time, and up to its last one): the columns
    `names` (None: all), mz_timestamp and mz_diff, not consolidated. `among`: keys, by name; what a
    row with another key was before the span is left out. None where it takes Spark to know it."""
    after, upto = span
    wanted = list(source.relation.names if names is None else names)
    if not source.feed or not simple(source, wanted):
        return None
    base = frontier.at(plane, source.shard, after)
    log = tail.log(plane, source.feed)
    log.reach(after)
    raw = log.rows(source.reference, base, upto)
    if raw is None or raw.num_rows == 0 or not told.plain(raw):
        return None
    values = typed.rows(live, plane, source, base, raw)
    rows, times, turns = values.select(wanted), raw["time"].to_numpy(), log_rows.turns(raw, after)
    there = pc.and_(pc.not_equal(raw["op"], "d"), values["__fits"]).to_numpy()
    came, went = there[turns.last], (turns.earlier != NOWHERE) & there[turns.earlier]
    found = [
        _stamped(rows.take(turns.last[came]), times[turns.last[came]], 1),
        _stamped(rows.take(turns.earlier[went]), times[turns.last[went]], -1),
    ]
    fresh = pc.equal(raw["op"], "i").to_numpy()
    unknown = (turns.earlier == NOWHERE) & ~fresh[turns.first]
    if among is not None:
        unknown &= _among(_keys(values, source), among.select(list(source.key)))[turns.last]
    if unknown.any():
        firsts, lasts = turns.first[unknown], turns.last[unknown]
        sent = told.before(raw, firsts, source)
        if sent is not None:
            own = sent.rename_columns(list(source.relation.names)).select(wanted)
            found.append(_stamped(own.cast(rows.schema), times[lasts], -1))
        else:
            keys = _keys(values, source).take(lasts)
            within = ranges.of(raw["key"].take(lasts), source)
            old = _of_base(plane, live, source, (base.version, keys, rows.schema, within))
            gone = times[lasts[old[base_near.NUMBER].to_numpy()]]
            found.append(_stamped(old.drop_columns([base_near.NUMBER]), gone, -1))
    return pa.concat_tables(found)


def _keys(values: pa.Table, source: Input) -> pa.Table:
    return values.select([f"__key_{i}" for i in range(len(source.key))])


def _among(keys: pa.Table, some: pa.Table) -> npt.NDArray[np.bool_]:
    """Whether each of the keys is one of `some`; that they are, where Arrow cannot tell."""
    number, names = base_near.NUMBER, keys.column_names
    numbered = keys.append_column(number, pa.array(np.arange(keys.num_rows)))
    there = np.zeros(keys.num_rows, np.bool_)
    try:
        asked = some.rename_columns(names).cast(keys.schema)
        found = numbered.join(asked, names, join_type="left semi", use_threads=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return ~there
    there[found[number].to_numpy()] = True
    return there


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


def simple(source: Input, names: Sequence[str]) -> bool:
    """Whether rows have a key that is known by its text, and columns that Arrow can compare."""
    plain = not any(column.type.array for column in source.columns if column.name in names)
    return bool(source.key) and plain and cast.known_by_text(source)


def _by_spark(
    live: SparkSession, base: DataFrame, source: Input, what: tuple[pa.Table, pa.Schema]
) -> pa.Table:
    """`base_near.rows`, of a base of any size."""
    keys, wanted = what
    asked = keys.append_column(base_near.NUMBER, pa.array(np.arange(keys.num_rows)))
    known = F.broadcast(spark.local(live, asked))
    names = [quoted(name) for name in wanted.names]
    found = base.join(known, collection.same_key(source)).select(*names, base_near.NUMBER)
    return schema.collected(found).cast(wanted.append(pa.field(base_near.NUMBER, pa.int64())))


def _stamped(rows: pa.Table, times: Places, diff: int) -> pa.Table:
    diffs = pa.repeat(pa.scalar(diff, pa.int64()), rows.num_rows)
    return rows.append_column(TIME, pa.array(times)).append_column(DIFF, diffs)
