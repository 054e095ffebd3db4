"""A keyed table's net changes made of its log alone, where upstream sent the old rows too.

Under replica identity FULL each update and delete brings the row as it was, so that what a span
took away is known without the base: what a step then costs depends on what changed, not on the
table's size.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import arrow_cast, cast, log_rows, typed
from ingest.tables.frontier import Frontier
from ingest.tables.log_rows import Places
from ingest.tables.schema import DIFF


def net(
    session: SparkSession, plane: Plane, source: Input, start: Frontier, raw: pa.Table
) -> pa.Table | None:
    """What the ordered tail `raw` after `start` adds and takes away: the source's columns by place
    (`c0`, ..) and mz_diff, not consolidated. None where it takes the base to know it."""
    if not source.key or not cast.known_by_text(source) or not _sent(raw) or not plain(raw):
        return None
    ops, first = raw["op"], log_rows.first(raw)
    old = before(raw, first[pc.not_equal(ops, "i").to_numpy()[first]], source)
    if old is None:
        return None
    newest, _ = log_rows.newest(raw)
    kept = newest[pc.not_equal(ops, "d").to_numpy()[newest]]
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
    truncates = pc.equal(raw["op"], "t")
    return not pc.any(pc.or_(truncates, log_rows.left_out(raw))).as_py()


def _sent(raw: pa.Table) -> bool:
    """Whether upstream sent an old row at all, or has had none to send."""
    some = raw["before"].null_count < raw.num_rows
    return some or bool(pc.all(pc.equal(raw["op"], "i")).as_py())


def before(raw: pa.Table, places: Places, source: Input) -> pa.Table | None:
    """The old rows at these places, typed, by place (`c0`, ..); None when upstream did not send
    all of them, or one of them may be none of the table's rows because it does not fit."""
    old = log_rows.taken(raw["before"], places).combine_chunks()
    if old.null_count:
        return None
    values = arrow_cast.values(old, source.columns)
    if values is None:
        return None
    return pa.Table.from_arrays(values, names=[f"c{place}" for place in range(len(values))])


def _times(rows: pa.Table, diff: int) -> pa.Table:
    counts = pa.repeat(pa.scalar(diff, pa.int64()), rows.num_rows)
    return rows.append_column(DIFF, counts)
