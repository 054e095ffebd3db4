"""A collection's net changes over a span: what a step of a view over it begins with."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import (
    changes,
    collection,
    frontier,
    moves,
    plain_tail,
    tail,
    view_changes,
    view_rows,
    view_tail,
)
from ingest.tables.frontier import Frontier
from ingest.tables.pending import Pending, pending
from ingest.tables.schema import DIFF, TIME, quoted


@dataclass(frozen=True)
class Net:
    """Columns and mz_diff (bigint). `ready`: the rows came with the frame, so that it costs
    nothing to use it again and again."""

    rows: DataFrame
    ready: bool


def of(plane: Plane, live: SparkSession, source: Input, after: int, upto: int) -> Net:
    """What `source` is at `upto` less what it was at `after` (ms), as changes.

    Raises IngestError 22023 when the history does not reach back to `after`.
    """
    if source.segments:
        return _of_view(plane, live, source, (after, upto))
    by_files = _of_log if source.feed else _of_plain
    found = by_files(plane, live, source, (after, upto))
    return _general(plane, live, source, (after, upto)) if found is None else found


def _general(plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]) -> Net:
    found = changes.frame(plane, live, source, *span)
    return Net(view_rows.net(found, source.relation.names), ready=False)


def _of_plain(
    plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]
) -> Net | None:
    """What the commits recorded, as it is; None for a table that records nothing."""
    table = plain_tail.in_memory(plane, source, *span)
    if table is not None:
        rows = view_tail.local(live, table.drop_columns([TIME]), source.relation)
        return Net(rows, ready=True)
    found = changes.recorded(plane, live, source, span)
    if found is None:
        return None
    return Net(found.select(*map(quoted, source.relation.names), DIFF), ready=False)


def _of_view(plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]) -> Net:
    found = view_changes.frames(plane, live, source, *span)
    if not found:
        return Net(view_rows.nothing(live, source.relation), ready=True)
    if len(found) > 1:
        return _general(plane, live, source, span)
    names = [quoted(name) for name in source.relation.names]
    one = view_changes.single(plane, source, *span)
    if one:
        return Net(found[0].select(*names, DIFF), ready=True)
    return Net(view_rows.net(found[0], source.relation.names), ready=False)


def _of_log(plane: Plane, live: SparkSession, source: Input, span: tuple[int, int]) -> Net | None:
    """By the log's newest versions of the touched keys; None where that is not enough."""
    after, upto = span
    base = frontier.at(plane, source.shard, after)
    log = tail.log(plane, source.feed)
    log.reach(after)
    start = Frontier(base.version, after, base.position)
    raw = log.rows(source.reference, start, upto)
    if raw is None:
        large = log.frame(live, source.reference, start, upto)
        plain = source.key and large.where(_special()).isEmpty()
    else:
        plain = not _any_special(raw)
    if not plain:
        return None
    found = pending(live, plane, source, start, upto)
    if found is None:
        return Net(view_rows.nothing(live, source.relation), ready=True)
    if source.key:
        return Net(_of_keys(plane, live, source, (found, after)), ready=False)
    if found.typed and not found.truncated:
        one = F.lit(1).cast("bigint").alias(DIFF)
        return Net(found.rows.select("*", one), ready=True)
    return None


def _of_keys(
    plane: Plane, live: SparkSession, source: Input, what: tuple[Pending, int]
) -> DataFrame:
    found, after = what
    keys = found.keys if found.keys is not None else collection.touched(found, source)
    known = keys if found.large else F.broadcast(keys)
    rows = collection.at(plane, live, source, after)
    old = rows.join(known, collection.same_key(source), "left_semi")
    new = found.rows if found.typed else collection.merged(old, found, source)
    return view_rows.minus(new, old, source.relation.names)


def _special() -> Column:
    return (F.col("op") == "t") | moves.is_move()


def _any_special(raw: pa.Table) -> bool:
    """Whether there is a truncation, or an insert that lacks values which its old key has."""
    missing = pc.fill_null(pc.list_value_length(raw["unchanged"]), 0)
    moved = pc.and_(pc.equal(raw["op"], "i"), pc.greater(missing, 0))
    return bool(pc.any(pc.or_(pc.equal(raw["op"], "t"), moved)).as_py())
