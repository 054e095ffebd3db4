"""Rows whose key changed while upstream left values out: those are the old key's, wherever it is.

The log has such a change as a delete of the old key and an insert of the new one, whose `before`
holds the old key. Here the insert gets its values, from the log or from the base, so that everyone
else meets whole rows only.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta
from ingest.contract.commands import Input
from ingest.contract.plane import Plane
from ingest.tables import cast, log_rows, trees

Cells = list["str | None"]
Key = tuple["str | None", ...]
Place = tuple[int, int]
_READ = ["time", "seq", "op", "key", "before", "after", "unchanged"]
_FILLED = "time bigint, seq bigint, __after array<string>"
_MOST_KNOWN = 20_000


@dataclass(frozen=True)
class Base:
    """The version of a table's base that a tail begins at."""

    session: SparkSession
    plane: Plane
    source: Input
    version: int


@dataclass
class _Version:
    """A row as far as the log tells; `missing` positions have their value in the base, under the
    key `origin`, or nowhere when that is None."""

    after: Cells
    missing: set[int] = field(default_factory=set)
    origin: Key | None = None


def is_move() -> Column:
    """Whether a log row is one of those."""
    left_out = F.coalesce(F.size("unchanged"), F.lit(0))
    return (F.col("op") == "i") & F.col("before").isNotNull() & (left_out > 0)


def in_memory(rows: pa.Table, base: Base) -> pa.Table:
    """An ordered tail with its moves made whole."""
    inserts = pc.and_(pc.equal(rows["op"], "i"), pc.is_valid(rows["before"]))
    if not pc.any(pc.and_(inserts, log_rows.left_out(rows))).as_py():
        return rows
    listed = rows.to_pylist()
    filled = _filled(listed, base)
    for row in listed:
        place = (row["time"], row["seq"])
        if place in filled:
            after = filled[place]
            row.update(after=after, unchanged=None, op="d" if after is None else "i")
    return pa.Table.from_pylist(listed, schema=rows.schema)


def in_spark(raw: DataFrame, base: Base) -> DataFrame:
    """The same for a tail in Spark, of which only the rows of moved keys come here.

    `raw` must begin at the base's frontier.
    """
    moves = raw.where(is_move())
    old = F.array(*(F.get("before", p - 1) for p in _key_positions(base.source)))
    keys = moves.select("key").unionAll(moves.select(old.alias("key"))).distinct()
    concerned = raw.join(keys, "key", "left_semi").select(*_READ)
    both = concerned.unionAll(raw.where(F.col("op") == "t").select(*_READ))
    rows = both.orderBy("time", "seq").toArrow().to_pylist()
    filled = [(*place, after) for place, after in _filled(rows, base).items()]
    whole = F.broadcast(base.session.createDataFrame(filled, _FILLED)).withColumn(
        "__found",
        F.lit(True),  # noqa: FBT003
    )
    found, gone = F.col("__found").isNotNull(), F.col("__after").isNull()
    return (
        raw.join(whole, ["time", "seq"], "left")
        .withColumns(
            {
                "op": F.when(found & gone, "d").otherwise(F.col("op")),
                "after": F.when(found, F.col("__after")).otherwise(F.col("after")),
                "unchanged": F.when(~found, F.col("unchanged")),
            }
        )
        .select(*raw.columns)
    )


def _filled(rows: Iterable[dict[str, Any]], base: Base) -> dict[Place, Cells | None]:
    """The whole row of each move; None when it has none here, because the old one was rejected."""
    versions = _follow(rows, _key_positions(base.source))
    wanted = {v.origin for v in versions.values() if v.missing and v.origin is not None}
    known = _look_up(base, wanted) if wanted else {}
    return {place: _whole(version, known) for place, version in versions.items()}


def _follow(rows: Iterable[dict[str, Any]], keys: Sequence[int]) -> dict[Place, _Version]:
    """Go through the tail in order; what each move's row is, so far as the tail tells."""
    now: dict[Key, _Version] = {}
    moved: dict[Place, _Version] = {}
    origin: Callable[[Key], Key | None] = _itself
    for row in rows:
        key = tuple(row["key"] or ())
        if row["op"] == "t":
            now.clear()
            origin = _nowhere
        elif row["op"] != "d":
            moves = _moves(row)
            before = tuple(_at(row["before"], p) for p in keys) if moves else key
            now[key] = _next(row, now.get(before), origin(before))
            if moves:
                moved[row["time"], row["seq"]] = now[key]
    return moved


def _next(row: dict[str, Any], earlier: _Version | None, origin: Key | None) -> _Version:
    left_out = set(row["unchanged"] or ())
    after = list(row["after"])
    if not left_out or earlier is None:
        return _Version(after, left_out, origin)
    for position in left_out:
        _put(after, position, _at(earlier.after, position))
    return _Version(after, left_out & earlier.missing, earlier.origin)


def _whole(version: _Version, known: dict[Key, dict[int, str | None]]) -> Cells | None:
    if not version.missing:
        return version.after
    found = known.get(version.origin) if version.origin is not None else None
    if found is None:
        return None
    after = list(version.after)
    for position in version.missing:
        _put(after, position, found.get(position))
    return after


def _look_up(base: Base, keys: set[Key]) -> dict[Key, dict[int, str | None]]:
    """The base's values of some keys as upstream's text, by position."""
    place = (base.plane, base.source.shard, base.version)
    with _lock:
        have = {key: _known[place, key] for key in keys if (place, key) in _known}
    fresh = keys - have.keys()
    if fresh:
        found = _read(base, sorted(fresh, key=repr))
        have |= found
        with _lock:
            _known.update({(place, key): values for key, values in found.items()})
            while len(_known) > _MOST_KNOWN:
                _known.popitem(last=False)
    return have


def _read(base: Base, keys: list[Key]) -> dict[Key, dict[int, str | None]]:
    source = base.source
    columns = {c.name: c for c in source.columns}
    stored = base.session.read.format("delta").option("versionAsOf", base.version)
    rows = stored.load(delta.base_path(base.plane, source.shard))
    wanted = base.session.createDataFrame([(list(key),) for key in keys], "key array<string>")
    pairs = [
        F.col(_quoted(name)) == cast.typed(F.get("key", i), columns[name].type)
        for i, name in enumerate(source.key)
    ]
    same = trees.join(lambda left, right: left & right, pairs)
    texts = [
        cast.text(F.col(_quoted(c.name)), c.type).alias(f"c{c.upstream_position}")
        for c in source.columns
    ]
    found = rows.join(F.broadcast(wanted), same).select("key", *texts).collect()
    return {
        tuple(row["key"]): {
            c.upstream_position: row[f"c{c.upstream_position}"] for c in source.columns
        }
        for row in found
    }


def _moves(row: dict[str, Any]) -> bool:
    return bool(row["op"] == "i" and row["unchanged"] and row["before"] is not None)


def _key_positions(source: Input) -> list[int]:
    positions = {c.name: c.upstream_position for c in source.columns}
    return [positions[name] for name in source.key]


def _itself(key: Key) -> Key | None:
    return key


def _nowhere(key: Key) -> Key | None:
    del key
    return None


def _at(cells: Sequence[str | None], position: int) -> str | None:
    return cells[position - 1] if position <= len(cells) else None


def _put(cells: Cells, position: int, value: str | None) -> None:
    if position <= len(cells):
        cells[position - 1] = value


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_known: OrderedDict[tuple[tuple[Plane, str, int], Key], dict[int, str | None]] = OrderedDict()
_lock = threading.Lock()
