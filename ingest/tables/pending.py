"""What the tail says about a table: the newest version of each key, or a multiset's difference.

There are two ways to the same answer: in memory for a small tail, in Spark for a large one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from ingest import spark
from ingest.contract.commands import ExportColumn, Input
from ingest.contract.plane import Plane
from ingest.contract.types import Type
from ingest.tables import cast, log_rows, moves, ranges, schema, tail, typed
from ingest.tables.frontier import Frontier

Cells = Sequence[str | None]
_BROADCAST = 500_000

_NEWEST = pa.schema(
    [
        ("time", pa.int64()),
        ("position", pa.int64()),
        ("op", pa.string()),
        ("key", pa.list_(pa.string())),
        ("after", pa.list_(pa.string())),
        ("missing", pa.list_(pa.int32())),
    ]
)
_NET = pa.schema(
    [
        ("time", pa.int64()),
        ("position", pa.int64()),
        ("after", pa.list_(pa.string())),
        ("diff", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Pending:
    """The tail, reduced. `truncated`: nothing of the base is left. `incomplete`: some rows lack
    values that upstream left out and only the base has. `retracts`: some rows of the base go.

    `rows` of a keyed table: time, position, op, key, after, missing; of one without a key: time,
    position, after, diff. If `typed`, `rows` are the table's own rows, and `keys` the touched
    keys as `collection.same_key` wants them. A `large` one is no candidate for a broadcast.
    `within`, where it was worked out, is what every row of the base with a touched key meets.
    """

    rows: DataFrame
    truncated: bool
    incomplete: bool
    retracts: bool
    keys: DataFrame | None = None
    typed: bool = False
    large: bool = False
    within: Column | None = None


def pending(
    session: SparkSession, plane: Plane, source: Input, frontier: Frontier, upto: int
) -> Pending | None:
    """The tail of `source` after its base's frontier up to time `upto`; None when it is empty."""
    log = tail.log(plane, source.feed)
    known = log.batches(frontier.time, upto)
    if known is not None:
        count = _count(known, source)
        if count == 0:
            return None
        if count <= tail.MOST_ROWS:
            return _in_memory(session, plane, source, frontier, upto)
    base = moves.Base(session, plane, source, frontier.version)
    return in_spark(log.frame(session, source.reference, frontier, upto), source, base)


def to_fold(
    session: SparkSession, plane: Plane, source: Input, frontier: Frontier, upto: int
) -> Pending | None:
    """The same for a tail that is read once: nothing is kept, and values are typed as they are
    written. A fold of a small tail looks at the log's files once instead of in each of its jobs.
    """
    log = tail.log(plane, source.feed)
    base = moves.Base(session, plane, source, frontier.version)
    known = log.batches(frontier.time, upto)
    if known is None or _count(known, source) > tail.MOST_ROWS:
        return in_spark(log.frame(session, source.reference, frontier, upto), source, base)
    table = log.ordered(session, source.reference, frontier, upto, keep=False)
    if table.num_rows == 0:
        return None
    if not source.key:
        return reduce_keyless(session, table, source)
    if cast.known_by_text(source):
        found = reduce_keyed(session, moves.in_memory(table, base))
        return replace(found, within=ranges.of(table["key"], source))
    return in_spark(spark.local(session, table), source, base)


def _count(batches: Iterable[tail.Batch], source: Input) -> int:
    return sum(batch.commit.counts.get(str(source.reference), 0) for batch in batches)


def _in_memory(
    session: SparkSession, plane: Plane, source: Input, frontier: Frontier, upto: int
) -> Pending | None:
    log = tail.log(plane, source.feed)
    table = log.ordered(session, source.reference, frontier, upto)
    if table.num_rows == 0:
        return None
    if not source.key and not _any(pc.is_in(table["op"], pa.array(["u", "d"]))):
        return _added(session, table, typed.rows(session, plane, source, frontier, table), source)
    if not source.key:
        return reduce_keyless(session, table, source)
    if _any(log_rows.left_out(table)):
        base = moves.Base(session, plane, source, frontier.version)
        return reduce_keyed(session, moves.in_memory(table, base))
    return _typed(session, table, typed.rows(session, plane, source, frontier, table), source)


def _typed(session: SparkSession, raw: pa.Table, values: pa.Table, source: Input) -> Pending:
    """`reduce_keyed` for a tail whose values are typed already."""
    newest, truncated = log_rows.newest(raw)
    picked = values.take(newest)
    keys = picked.select([f"__key_{i}" for i in range(len(source.key))])
    there = pc.and_(pc.not_equal(raw["op"].take(newest), "d"), picked["__fits"])
    made = picked.filter(there).select(list(source.relation.names))
    return Pending(
        _own(session, made, source),
        truncated,
        incomplete=False,
        retracts=True,
        keys=spark.local(session, keys) if keys.num_rows else None,
        typed=True,
    )


def _own(session: SparkSession, rows: pa.Table, source: Input) -> DataFrame:
    """Typed rows as Spark's again; it takes Arrow's local timestamps for moments."""
    columns = source.relation.columns
    if rows.num_rows == 0:
        return schema.empty(session, source.relation)
    numbered = rows.rename_columns([f"c{number}" for number in range(len(columns))])
    return spark.local(session, numbered).select(
        *(F.col(f"c{n}").cast(c.type.spark).alias(c.name) for n, c in enumerate(columns))
    )


def _added(session: SparkSession, raw: pa.Table, values: pa.Table, source: Input) -> Pending:
    """`reduce_keyless` for a tail that only adds, whose values are typed already."""
    truncates = pc.indices_nonzero(pc.equal(raw["op"], "t"))
    first = truncates[-1].as_py() + 1 if len(truncates) else 0
    new = values.slice(first)
    made = new.filter(new["__fits"]).select(list(source.relation.names))
    return Pending(
        _own(session, made, source),
        truncated=len(truncates) > 0,
        incomplete=False,
        retracts=False,
        typed=True,
    )


def reduce_keyed(session: SparkSession, table: pa.Table) -> Pending:
    """The newest version of each key of an ordered tail."""
    newest, truncated = log_rows.newest(table)
    if not _any(log_rows.left_out(table)):
        picked = table.select(["time", "position", "op", "key", "after"]).take(newest)
        missing = pa.nulls(picked.num_rows, pa.list_(pa.int32()))
        picked = picked.append_column("missing", missing)
        frame = _local(session, picked, _NEWEST)
        return Pending(frame, truncated, incomplete=False, retracts=True)
    rows = _filled(table.to_pylist())
    picked = pa.Table.from_pylist(list(rows), schema=_NEWEST)
    incomplete = any(row["missing"] for row in rows)
    return Pending(_local(session, picked, _NEWEST), truncated, incomplete, retracts=True)


def reduce_keyless(session: SparkSession, table: pa.Table, source: Input) -> Pending:
    """The difference that an ordered tail makes to a multiset of rows."""
    positions = [c.upstream_position for c in source.columns]
    net: Counter[tuple[str | None, ...]] = Counter()
    truncated = False
    for row in table.to_pylist():
        if row["op"] == "t":
            net.clear()
            truncated = True
        for cells, diff in ((row["before"], -1), (row["after"], 1)):
            if cells is not None:
                net[tuple(_at(cells, p) for p in positions)] += diff
    last = table.slice(table.num_rows - 1).to_pylist()[0]
    rows = [
        {
            "time": last["time"],
            "position": last["position"],
            "after": _spread(positions, cells),
            "diff": diff,
        }
        for cells, diff in net.items()
        if diff
    ]
    frame = _local(session, pa.Table.from_pylist(rows, schema=_NET), _NET)
    return Pending(frame, truncated, incomplete=False, retracts=any(d < 0 for d in net.values()))


def in_spark(raw: DataFrame, source: Input, base: moves.Base) -> Pending | None:
    """Reduce a tail of any size; costs one job to look at it and is lazy about the rest."""
    about = raw.agg(
        F.count("*").alias("rows"),
        F.max(F.when(F.col("op") == "t", _order())).alias("truncate"),
        F.max(F.size(F.coalesce(F.col("unchanged"), F.array().cast("array<int>")))).alias("left"),
        F.max(F.col("op").isin("u", "d").cast("int")).alias("retracts"),
        F.max(moves.is_move().cast("int")).alias("moves"),
    ).collect()[0]
    if about["rows"] == 0:
        return None
    large = about["rows"] > _BROADCAST
    if source.key and about["moves"]:
        raw = moves.in_spark(raw, base)
    if about["truncate"] is not None:
        at = about["truncate"]
        raw = raw.where(
            _order() > F.struct(F.lit(at[0]).cast("bigint"), F.lit(at[1]).cast("bigint"))
        )
    if not source.key:
        return Pending(
            _net(raw, source.columns),
            about["truncate"] is not None,
            incomplete=False,
            retracts=bool(about["retracts"]),
            large=large,
        )
    rows = _newest_in_spark(raw, source)
    return Pending(
        rows,
        about["truncate"] is not None,
        bool(about["left"]),
        retracts=bool(about["retracts"]),
        large=large,
    )


def _order() -> Column:
    return F.struct("time", "seq")


def _newest_in_spark(raw: DataFrame, source: Input) -> DataFrame:
    """Newest per key; each column's newest value that upstream did send since the last insert."""
    positions = [c.upstream_position for c in source.columns]
    sent = [
        F.max_by(
            F.struct(F.get("after", p - 1).alias("value")),
            F.when(~F.array_contains(F.coalesce("unchanged", _none()), p), _order()),
        ).alias(f"c{p}")
        for p in positions
    ]
    grouped = raw.groupBy(*_same_key(source)).agg(
        F.max_by(F.struct("time", "position", "op", "key"), _order()).alias("last"), *sent
    )
    width = max(positions, default=0)
    cells = [
        F.col(f"c{i}.value") if i in positions else F.lit(None).cast("string")
        for i in range(1, width + 1)
    ]
    absent = [F.when(F.col(f"c{p}").isNull(), F.lit(p)) for p in positions]
    return grouped.select(
        "last.time",
        "last.position",
        "last.op",
        "last.key",
        F.array(*cells).alias("after"),
        F.array_compact(F.array(*absent)).cast("array<int>").alias("missing"),
    )


def _same_key(source: Input) -> list[Column]:
    """What rows of one key have in common: upstream may write one number in several ways."""
    kinds = {c.name: c.type for c in source.columns}
    parts: list[Column] = []
    for index, name in enumerate(source.key):
        text = F.get("key", index)
        parts.append(text if kinds[name].spark == "string" else _value_or_text(text, kinds[name]))
    return [part.alias(f"__same_{index}") for index, part in enumerate(parts)]


def _value_or_text(text: Column, kind: Type) -> Column:
    return F.coalesce(cast.typed(text, kind).cast(kind.spark).cast("string"), text)


def _net(raw: DataFrame, columns: Sequence[ExportColumn]) -> DataFrame:
    positions = {c.upstream_position for c in columns}
    width = max(positions, default=0)

    def cells(row: str) -> Column:
        picked = [
            F.get(row, i - 1) if i in positions else F.lit(None).cast("string")
            for i in range(1, width + 1)
        ]
        return F.array(*picked).alias("after")

    def side(row: str, diff: int) -> DataFrame:
        present = raw.where(F.col(row).isNotNull())
        return present.select("time", "position", cells(row), F.lit(diff).alias("diff"))

    both = side("after", 1).unionAll(side("before", -1))
    return (
        both.groupBy("after")
        .agg(
            F.max("time").alias("time"),
            F.max("position").alias("position"),
            F.sum("diff").alias("diff"),
        )
        .where(F.col("diff") != 0)
        .select("time", "position", "after", "diff")
    )


def _none() -> Column:
    return F.array().cast("array<int>")


def _filled(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Newest per key with values that upstream left out taken from the key's version before."""
    newest: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for row in rows:
        if row["op"] == "t":
            newest.clear()
            continue
        key = tuple(row["key"] or ())
        newest[key] = _fill(row, newest.get(key))
    return list(newest.values())


def _fill(row: dict[str, Any], earlier: dict[str, Any] | None) -> dict[str, Any]:
    left_out: list[int] = row["unchanged"] or []
    missing = list(left_out)
    after: list[str | None] = list(row["after"] or ())
    if left_out and earlier is not None and earlier["op"] != "d":
        before: list[str | None] = earlier["after"]
        absent: list[int] = earlier["missing"]
        missing = [p for p in left_out if p in absent]
        for position in left_out:
            after[position - 1] = _at(before, position)
    picked = {name: row[name] for name in ("time", "position", "op", "key")}
    return picked | {"after": after, "missing": missing}


def _any(flags: pa.ChunkedArray) -> bool:
    return bool(pc.any(flags).as_py())


def _at(cells: Cells, position: int) -> str | None:
    return cells[position - 1] if position <= len(cells) else None


def _spread(positions: Sequence[int], cells: Cells) -> list[str | None]:
    row: list[str | None] = [None] * max(positions, default=0)
    for position, cell in zip(positions, cells, strict=True):
        row[position - 1] = cell
    return row


def _local(session: SparkSession, table: pa.Table, shape: pa.Schema) -> DataFrame:
    if table.num_rows == 0:
        return session.createDataFrame([], from_arrow_schema(shape))
    return spark.local(session, table.cast(shape))
