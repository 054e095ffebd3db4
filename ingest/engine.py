"""The data plane's one door: everything the catalog asks of it.

Every function takes what committed catalog rows say and is safe to repeat. Failures are
`ingest.errors.HeadraceError`: Transient ones pass, Terminal ones need a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.contract.commands import Export, Feed, Generator, Input, Query
from ingest.contract.host import FeedHost
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.contract.reports import ResultSet
from ingest.contract.upstream import Check, PostgresTarget, Publication, Reference
from ingest.feeds import failpoint, generators, postgres
from ingest.tables import apply as folding
from ingest.tables import changes as changing
from ingest.tables import plain, reading, retention
from ingest.tables.apply import Applied
from ingest.tables.retention import Compacted, Tail


def check_connection(target: PostgresTarget) -> tuple[Check, ...]:
    """Look at everything a connection needs; problems are in the answer, not raised."""
    return postgres.check_connection(target)


def check_publication(target: PostgresTarget, publication: str) -> tuple[Check, ...]:
    """Look at everything replication of a publication needs."""
    return postgres.check_publication(target, publication)


def list_publications(target: PostgresTarget) -> tuple[Publication, ...]:
    """The publications that a source can follow. Raises Transient or Terminal."""
    return postgres.list_publications(target)


def list_references(
    target: PostgresTarget | Generator, publication: str = ""
) -> tuple[Reference, ...]:
    """Every upstream relation that a table can be made from.

    Raises Transient or Terminal when the upstream cannot be asked.
    """
    if isinstance(target, Generator):
        return generators.list_references(target)
    return postgres.list_references(target, publication)


def run_feed(plane: Plane, host: FeedHost) -> None:
    """Consume one upstream into its log until the host says stop; blocks.

    Raises Transient when it should be started again, Terminal when it should not.
    """
    feed = host.desired()
    if feed is None:
        return
    if isinstance(feed.target, Generator):
        generators.run(plane, host)
    else:
        postgres.run_feed(plane, host)


def drop_feed(plane: Plane, feed: Feed) -> None:
    """Drop what a feed keeps upstream (its slot), then its log; what is gone already is fine."""
    if isinstance(feed.target, PostgresTarget):
        postgres.drop_feed(plane, feed)
    retention.drop_log(plane, feed.id)


def read(plane: Plane, query: Query) -> ResultSet:
    """Run a query with every input at `query.time`.

    Raises IngestError with PostgreSQL's SQLSTATE for what the query does wrong, 57014 when it was
    cancelled or ran longer than `query.timeout` seconds, Transient when Spark is away.
    """
    return reading.read(plane, query)


def analyze(plane: Plane, query: Query) -> Relation:
    """Names and types of a query's columns, without running it or touching any data."""
    return reading.analyze(plane, query)


def cancel(plane: Plane, tag: str) -> None:
    """Stop every query of this process that was started with this tag."""
    reading.cancel(plane, tag)


def create_table(plane: Plane, shard: str, relation: Relation, time: int) -> None:
    """Make an empty plain table whose first version is at `time` (ms)."""
    plain.create(plane, shard, relation, time)


def insert(plane: Plane, target: Input, source: Query, time: int) -> int:
    """Append the rows of `source`, whose columns are the table's, in order; how many."""
    return plain.insert(plane, target, source, time)


def update(
    plane: Plane, target: Input, assignments: Mapping[str, str], where: str | None, time: int
) -> int:
    """Set columns to Spark expressions over the old row where `where` holds; rows changed."""
    return plain.update(plane, target, assignments, where, time)


def delete(plane: Plane, target: Input, where: str | None, time: int) -> int:
    """Delete the rows where the Spark expression holds; rows deleted."""
    return plain.delete(plane, target, where, time)


def drop_shard(plane: Plane, shard: str) -> None:
    """Remove a table's data; what is gone already is fine."""
    retention.drop_shard(plane, shard)


def apply(plane: Plane, feed_id: str, export: Export, upto: int) -> Applied:
    """Fold the table's tail up to time `upto` (ms, complete) into its base; idempotent."""
    return folding.apply(plane, feed_id, export, upto)


def compact(
    plane: Plane, feed_id: str, files: int = retention.FILES_BEFORE_COMPACTION
) -> Compacted:
    """Join the log's small files when there are `files` of them."""
    return retention.compact(plane, feed_id, files)


def trimmable(plane: Plane, feed_id: str, exports: Sequence[Export], horizon: int) -> int:
    """The time (ms), `horizon` at most, up to which the log may be trimmed for these tables,
    which must be all that still read it; 0 when there is nothing worth it."""
    return retention.trimmable(plane, feed_id, exports, horizon)


def trim(plane: Plane, feed_id: str, keep_after: int) -> int:
    """Delete log rows with a time <= `keep_after`, an answer of `trimmable`; how many went."""
    return retention.trim(plane, feed_id, keep_after)


def clean(plane: Plane, shard: str) -> bool:
    """Now and then remove the files that folding a table left behind; whether it was time."""
    return retention.clean(plane, shard)


def tail_statistics(plane: Plane, feed_id: str, export: Export) -> Tail:
    """How much of the log the table's base does not hold yet; reads commit files only."""
    return retention.tail_of(plane, feed_id, export)


def apply_due(tail: Tail, now: int, rows: int = folding.ROWS) -> bool:
    """Whether a tail is large (`rows`), old or scattered enough to be folded at `now` (ms)."""
    return folding.due(tail, now, rows)


def changes(plane: Plane, source: Input, after: int, upto: int) -> ResultSet:
    """The table's changes with `after` < time <= `upto`: its columns, mz_timestamp, mz_diff."""
    return changing.changes(plane, source, after, upto)


def count_quarantined(plane: Plane, shard: str) -> int:
    """Rows in the table's quarantine."""
    return folding.count_quarantined(plane, shard)


def arm_fail_point(name: str, n: int = 1) -> None:
    """Make this process kill itself at the `n`-th pass of a named point; empty disarms."""
    failpoint.arm(name, n)
