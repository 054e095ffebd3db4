"""Folding the tail into the base, so that reads stay cheap and the log can be trimmed.

The base's frontier is in the commit that moves it, so doing it twice changes nothing; a second
folder of the same table loses the race for the commit and changes nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect import functions as F

from ingest import delta, spark
from ingest.contract.commands import Export, Input
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.feeds import failpoint
from ingest.tables import cast, collection, frontier, retention
from ingest.tables.frontier import Frontier
from ingest.tables.pending import Pending, to_fold

ROWS = 20_000
"""A tail of so many rows is folded; see docs/adr for what a read pays for one."""
MOST_ROWS = 150_000
_BYTES_PER_ROW = 2_048
"""A fold writes most of a large base anew, so it waits for one row to that many bytes of base, but
not for more than `MOST_ROWS`: what comes during the fold has to fit into memory with it."""
_MOST_FILES = 3_000
_REWRITTEN = 8 * 2**20
"""A base of so many bytes at most is written anew: that is one job of one task, a MERGE three."""
_MOST_AGE = 600_000


@dataclass(frozen=True)
class Applied:
    """What folding did. `frontier` (ms): the base holds everything up to it. `rows` counts tail
    rows that were looked at, `quarantined` all rows in the table's quarantine."""

    table: str
    frontier: int
    rows: int
    quarantined: int


def due(found: retention.Tail, now: int, rows: int = ROWS) -> bool:
    """Whether a tail is large (`rows`, or more for a large base), scattered or old enough to be
    folded at `now` (ms)."""
    if found.rows == 0:
        return False
    aged = now - found.since >= _MOST_AGE
    enough = max(rows, min(found.base // _BYTES_PER_ROW, MOST_ROWS))
    return found.rows >= enough or found.files >= _MOST_FILES or aged


def apply(plane: Plane, feed_id: str, export: Export, upto: int) -> Applied:
    """Fold everything up to time `upto` (ms), which must be complete; see `ingest.engine.apply`.

    Raises IngestError before the first snapshot, Transient when another folder was faster.
    """
    source = as_input(feed_id, export)
    known = frontier.at(plane, export.shard, 2**63 - 1)
    rows = retention.count(plane, feed_id, export.reference, known.time, upto)
    if rows != 0 and known.time < upto:
        with retention.writing:
            spark.apart(plane, lambda live: _fold(plane, live, source, known, upto), "write")
            failpoint.hit("applied")
    return Applied(
        export.table,
        max(known.time, upto),
        max(rows, 0),
        count_quarantined(plane, export.shard),
    )


def as_input(feed_id: str, export: Export) -> Input:
    """A table as a query's input."""
    columns = tuple(Column(c.name, c.type, c.nullable) for c in export.columns)
    relation = Relation(columns, export.key)
    return Input(
        export.table,
        export.shard,
        relation,
        feed_id,
        export.reference,
        export.columns,
        export.key,
    )


def count_quarantined(plane: Plane, shard: str) -> int:
    """Rows in a table's quarantine."""
    path = delta.quarantine_path(plane, shard)
    return sum(int(v.metrics.get("numOutputRows", 0)) for v in delta.versions(path))


def _fold(plane: Plane, live: SparkSession, source: Input, known: Frontier, upto: int) -> None:
    found = to_fold(live, plane, source, known, upto)
    if found is None:
        return
    meta = delta.base_metadata(source.item, upto, known.position)
    _quarantine(plane, source, found, meta, upto)
    small = not found.large and _is_small(plane, source)
    if source.key and not found.truncated and found.retracts and not small:
        _merge(plane, live, source, found, (meta, upto))
    elif found.truncated or found.retracts:
        rows = collection.base(plane, live, source, known.version)
        made = collection.merged(rows, found, source)
        made = made.coalesce(1) if small else made
        _write(plane, source, made, "overwrite", (meta, upto))
    else:
        empty = collection.base(plane, live, source, known.version).limit(0)
        whole = Pending(found.rows, truncated=True, incomplete=False, retracts=False)
        made = collection.merged(empty, whole, source)
        _write(plane, source, made, "append", (meta, upto))


def _is_small(plane: Plane, source: Input) -> bool:
    found = delta.bytes_at_most(delta.base_path(plane, source.shard))
    return found is not None and found <= _REWRITTEN


def _write(
    plane: Plane, source: Input, rows: DataFrame, mode: str, commit: tuple[str, int]
) -> None:
    meta, upto = commit
    writer = rows.write.format("delta").mode(mode).option("userMetadata", meta)
    writer = writer.option("txnAppId", f"fold-{source.shard}").option("txnVersion", upto)
    writer.save(delta.base_path(plane, source.shard))


def _merge(
    plane: Plane, live: SparkSession, source: Input, found: Pending, commit: tuple[str, int]
) -> None:
    """MERGE by key. A row that does not fit its types leaves the table for the quarantine."""
    meta, upto = commit
    settings = {
        delta.METADATA: meta,
        "spark.databricks.delta.merge.materializeSource": "none",
        "spark.databricks.delta.write.txnAppId": f"fold-{source.shard}",
        "spark.databricks.delta.write.txnVersion": str(upto),
    }
    gone = (F.col("op") == "d") | ~cast.all_fit(F.col("after"), source.columns)
    key = collection.touched_keys(source)
    changes = found.rows.select(
        *key,
        gone.alias("__gone"),
        F.col("after").alias("__after"),
        F.coalesce("missing", F.array().cast("array<int>")).alias("__missing"),
    )
    target = delta.name(delta.base_path(plane, source.shard))
    typed = {
        collection.quoted(c.name): cast.typed(cast.cell(F.col("__after"), c), c.type).cast(
            c.type.spark
        )
        for c in source.columns
    }
    filled = {
        name: F.when(F.array_contains("__missing", c.upstream_position), F.col(name)).otherwise(
            value
        )
        for (name, value), c in zip(typed.items(), source.columns, strict=True)
    }
    whole = F.size("__missing") == 0
    same = collection.same_key(source)
    same = same if found.within is None else same & found.within
    try:
        for name, value in settings.items():
            live.conf.set(name, value)
        (
            changes.mergeInto(target, same)
            .whenMatched(F.col("__gone"))
            .delete()
            .whenMatched()
            .update(filled if found.incomplete else typed)
            .whenNotMatched(~F.col("__gone") & whole)
            .insert(typed)
            .merge()
        )
    finally:
        for name in settings:
            live.conf.unset(name)


def _quarantine(plane: Plane, source: Input, found: Pending, meta: str, upto: int) -> None:
    """Keep the rows that have no form here, with why; written before the base moves on."""
    path = delta.quarantine_path(plane, source.shard)
    last = frontier.newest_of(path)
    since = last.time if last else -1
    if since >= upto:
        return
    why = cast.reason(F.col("after"), source.columns)
    alive = F.col("op") != "d" if source.key else F.col("diff") > 0
    fresh = found.rows.where(alive & (F.col("time") > since))
    bad = fresh.select("time", "position", "after", why.alias("reason"))
    bad = bad.where(F.col("reason").isNotNull())
    if bad.isEmpty():
        return
    writer = bad.write.format("delta").mode("append").option("userMetadata", meta)
    writer.save(path)
