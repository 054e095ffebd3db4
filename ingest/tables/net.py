"""A collection's net changes over a span: what a step of a view over it begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.tables import (
    changes,
    collection,
    frontier,
    log_changes,
    log_rows,
    moves,
    plain_tail,
    ranges,
    tail,
    told,
    view_changes,
    view_rows,
    view_tail,
)
from ingest.tables.frontier import Frontier
from ingest.tables.handed import Send
from ingest.tables.pending import Pending, pending
from ingest.tables.schema import DIFF, TIME, quoted


@dataclass(frozen=True)
class Net:
    """Columns and mz_diff (bigint, not 0), which `make` gives. `ready`: the rows come with the
    frame, so that it costs nothing to use it again and again. `nothing`: there are none, as far as
    is known. `table`: the columns, and `diffs`: mz_diff, where they came through this process."""

    make: Callable[[], DataFrame]
    ready: bool
    nothing: bool = False
    table: pa.Table | None = None
    diffs: pa.ChunkedArray | None = None

    @cached_property
    def rows(self) -> DataFrame:
        """The frame, which goes to Spark when it is first asked for."""
        return self.make()


def of(  # noqa: PLR0913
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    names: Sequence[str] | None = None,
    *,
    raw: bool = False,
    send: Send | None = None,
    among: pa.Table | None = None,
) -> Net:
    """What `source` is at the end of the span less what it was at its beginning (ms), as changes.

    Only the columns `names`, in the relation's order; None for all. `raw`: changes that cancel
    out may be in it. `send`: how rows of this process go to Spark. `among`: keys, by name; what a
    row with another key was may be left out. Raises IngestError 22023 when the history does not
    reach back that far.
    """
    wanted = tuple(source.relation.names if names is None else names)
    send = send or partial(view_tail.local, live)
    if source.segments:
        return _of_view(plane, live, source, span, wanted, (send, raw))
    if source.feed:
        found = _of_log(plane, live, source, span, wanted, (send, raw, among))
    else:
        found = _of_plain(plane, live, source, span, wanted, send)
    return _general(plane, live, source, span, wanted) if found is None else found


def _general(
    plane: Plane, live: SparkSession, source: Input, span: tuple[int, int], wanted: Sequence[str]
) -> Net:
    found = changes.frame(plane, live, source, *span)
    return Net(lambda: view_rows.net(found, wanted), ready=False)


def _of_plain(  # noqa: PLR0913
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    wanted: Sequence[str],
    send: Send,
) -> Net | None:
    """What the commits recorded, as it is; None for a table that records nothing."""
    table = plain_tail.in_memory(plane, source, *span)
    if table is not None:
        return sent(send, _picked(table, source, wanted), _columns(source, wanted))
    found = changes.recorded(plane, live, source, span)
    names = [*map(quoted, wanted), DIFF]
    return None if found is None else Net(lambda: found.select(*names), ready=False)


def _of_view(  # noqa: PLR0913
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    wanted: Sequence[str],
    how: tuple[Send, bool],
) -> Net:
    send, raw = how
    few = _of_few(plane, source, span, wanted, raw=raw)
    if few is not None:
        return sent(send, few, _columns(source, wanted))
    names = [*map(quoted, wanted), DIFF]
    found = view_changes.frames(plane, live, source, *span)
    if not found:
        nothing = view_rows.nothing(live, source.relation)
        return Net(lambda: nothing.select(*names), ready=True, nothing=True)
    if len(found) > 1:
        return _general(plane, live, source, span, wanted)
    return Net(lambda: view_rows.net(found[0], wanted), ready=False)


def _of_few(
    plane: Plane, source: Input, span: tuple[int, int], wanted: Sequence[str], *, raw: bool
) -> pa.Table | None:
    """A view's changes in memory; None where it takes Spark to know them, or to consolidate."""
    table = view_changes.in_memory(plane, source, *span)
    if table is None:
        return None
    few = _picked(table, source, wanted)
    try:
        return few if raw else told.consolidated(few)
    # Arrow does not group by values of every type.
    except pa.ArrowNotImplementedError:
        return None


def _of_log(  # noqa: PLR0913
    plane: Plane,
    live: SparkSession,
    source: Input,
    span: tuple[int, int],
    wanted: Sequence[str],
    how: tuple[Send, bool, pa.Table | None],
) -> Net | None:
    """By the log's newest versions of the touched keys; None where that is not enough."""
    (after, upto), (send, raw, among) = span, how
    base = frontier.at(plane, source.shard, after)
    log = tail.log(plane, source.feed)
    log.reach(after)
    start = Frontier(base.version, after, base.position)
    rows = log.rows(source.reference, start, upto)
    if rows is None:
        large = log.frame(live, source.reference, start, upto)
        plain = source.key and large.where(_special()).isEmpty()
    else:
        plain = not _any_special(rows)
    if not plain:
        return None
    made = None
    if rows is not None:
        made = _in_process(plane, live, source, (span, start, rows), (wanted, raw, among))
    if made is not None:
        return sent(send, made, _columns(source, wanted))
    found = pending(live, plane, source, start, upto)
    if found is None:
        nothing = view_rows.nothing(live, source.relation)
        columns = [*map(quoted, wanted), DIFF]
        return Net(lambda: nothing.select(*columns), ready=True, nothing=True)
    if source.key:
        within = ranges.of(rows["key"], source) if rows is not None else None
        new, old = _of_keys(plane, live, source, (replace(found, within=within), after))
        summed = view_rows.either if raw else view_rows.minus
        return Net(lambda: summed(new, old, wanted), ready=False)
    if found.typed and not found.truncated:
        one = F.lit(1).cast("bigint").alias(DIFF)
        own = found.rows.select(*map(quoted, wanted), one)
        return Net(lambda: own, ready=True)
    return None


def _in_process(
    plane: Plane,
    live: SparkSession,
    source: Input,
    what: tuple[tuple[int, int], Frontier, pa.Table],
    how: tuple[Sequence[str], bool, pa.Table | None],
) -> pa.Table | None:
    """The changes of the columns wanted by the log's rows of the span after a frontier; None
    where Spark is to make them. What was looked up is consolidated even where it need not be:
    when nothing is left of it, looking it up was all that the step had to do."""
    (span, start, rows), (wanted, raw, among) = what, how
    known = told.net(live, plane, source, start, rows)
    if known is not None:
        picked = _picked(known, source, wanted)
        return picked if raw else told.consolidated(picked)
    made = log_changes.in_memory(plane, live, source, span, wanted, among)
    return None if made is None else told.consolidated(made.drop_columns([TIME]))


def _columns(source: Input, wanted: Sequence[str]) -> Relation:
    return Relation(tuple(c for c in source.relation.columns if c.name in wanted))


def _picked(changes: pa.Table, source: Input, wanted: Sequence[str]) -> pa.Table:
    """Those of all columns by place (`c0`, ..) that are `wanted`, and mz_diff."""
    names = enumerate(source.relation.names)
    return changes.select([*(f"c{place}" for place, name in names if name in wanted), DIFF])


def sent(send: Send, changes: pa.Table, relation: Relation) -> Net:
    """Changes in memory: the columns of `relation` in its order, then mz_diff."""
    places = [f"c{number}" for number in range(len(relation.columns))]
    few = changes.rename_columns([*places, DIFF])
    table = few.select(places).rename_columns(list(relation.names))
    make, nothing = partial(send, few, relation), few.num_rows == 0
    return Net(make, ready=True, nothing=nothing, table=table, diffs=few[DIFF])


def _of_keys(
    plane: Plane, live: SparkSession, source: Input, what: tuple[Pending, int]
) -> tuple[DataFrame, DataFrame]:
    """The rows of the touched keys as they are, and as they were."""
    found, after = what
    keys = found.keys if found.keys is not None else collection.touched(found, source)
    known = keys if found.large else F.broadcast(keys)
    rows = collection.at(plane, live, source, after)
    rows = rows if found.within is None else rows.where(found.within)
    old = rows.join(known, collection.same_key(source), "left_semi")
    new = found.rows if found.typed else collection.merged(old, found, source)
    return new, old


def _special() -> Column:
    return (F.col("op") == "t") | moves.is_move()


def _any_special(raw: pa.Table) -> bool:
    """Whether there is a truncation, or an insert that lacks values which its old key has."""
    moved = pc.and_(pc.equal(raw["op"], "i"), log_rows.left_out(raw))
    return bool(pc.any(pc.or_(pc.equal(raw["op"], "t"), moved)).as_py())
