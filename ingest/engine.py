"""The data plane's one door: everything the catalog asks of it.

Every function takes what committed catalog rows say and is safe to repeat. Failures are
`ingest.errors.HeadraceError`: Transient ones pass, Terminal ones need a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ingest.contract.commands import Export, Feed, Generator, Input, Query, Webhooks
from ingest.contract.host import FeedHost
from ingest.contract.inbox import Inbox
from ingest.contract.plane import Plane
from ingest.contract.relation import Relation
from ingest.contract.reports import ResultSet
from ingest.contract.upstream import Check, PostgresTarget, Publication, Reference
from ingest.contract.views import Hydration, Staged, Step, View, ViewState
from ingest.feeds import failpoint, generators, postgres, webhooks
from ingest.tables import activity, plain, reading, retention
from ingest.tables import apply as folding
from ingest.tables import changes as changing
from ingest.tables.apply import Applied
from ingest.tables.retention import Compacted, Tail
from ingest.views import folding as view_folding
from ingest.views import hydration, running, staging, states, stepping
from ingest.views import subscribe as subscribing


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
    elif isinstance(feed.target, Webhooks):
        webhooks.run(plane, host)
    else:
        postgres.run_feed(plane, host)


def open_inbox(plane: Plane, feed: str, writer: str) -> Inbox:
    """Where this process, named `writer` like no other before or after it, leaves the requests
    that it accepts for a feed of webhooks."""
    return webhooks.DiskInbox(plane, feed, writer)


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
    running.cancel(tag)


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


def written(plane: Plane, shard: str, time: int) -> int | None:
    """Rows of the write to a plain table at `time` (ms); None when it never came to be."""
    return plain.written(plane, shard, time)


def drop_shard(plane: Plane, shard: str) -> bool:
    """Remove a table's data; whether there was any: what is gone already is fine.

    Raises Transient while somebody still writes there.
    """
    return retention.drop_shard(plane, shard)


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
    """Whether a tail is large (`rows`, or more for a large base), old or scattered enough to be
    folded at `now` (ms)."""
    return folding.due(tail, now, rows)


def changes(plane: Plane, source: Input, after: int, upto: int) -> ResultSet:
    """The table's changes with `after` < time <= `upto`: its columns, mz_timestamp, mz_diff."""
    return changing.changes(plane, source, after, upto)


def count_quarantined(plane: Plane, shard: str) -> int:
    """Rows in the table's quarantine."""
    return folding.count_quarantined(plane, shard)


def view_state(plane: Plane, shard: str) -> ViewState | None:
    """What a view's data says of itself, from commit files; None while it is not hydrated."""
    return states.state(plane, shard)


def view_exact(plane: Plane, source: Input, time: int, through: int) -> bool:
    """Whether the rows that a view holds at `time` (ms) are its query's rows then. Between two
    steps they are when nothing changed; `through` is how far the catalog knows it complete."""
    return states.exact(plane, source, time, through)


def hydrate_view(
    plane: Plane, view: View, time: int, tag: str, progress: Callable[[Hydration], None]
) -> Step:
    """Compute all of a view at `time` (ms); a view that is hydrated already is left alone.

    `progress` is called in this thread every second or two; what it raises stops the work and is
    raised here. Raises IngestError 57014 when `cancel` stopped it under its `tag`.
    """
    return hydration.hydrate(plane, view, time, tag, progress)


def step_view(plane: Plane, view: View, upto: int, since: int = 0) -> Step:
    """Bring a view to `upto` (ms), at which its inputs must be complete.

    `since` is a time up to which the view is known to be complete, when later than its last
    step. Nothing is written when no input changed. Raises Transient when another maintainer was
    faster, and what the view's query does wrong.
    """
    return stepping.step(plane, view, upto, since)


def fold_view(plane: Plane, shard: str, relation: Relation) -> bool:
    """Fold a view's steps into its base when there are many, and remove what no read needs any
    more; whether it folded. `relation`: all columns of the shard.

    Raises Transient when another folder was faster."""
    return view_folding.fold(plane, shard, relation)


def staged(
    plane: Plane, target: Input, replacement: Input, time: int, key: Sequence[str] = ()
) -> Staged:
    """What a replacement would change in its target at `time` (ms)."""
    return staging.staged(plane, target, replacement, time, key)


def compared(plane: Plane, old: Query, new: Query, key: Sequence[str] = ()) -> Staged:
    """How the answers of two queries of equal columns differ; `key` are columns of `new` that no
    two rows share. Raises as `read` does."""
    return staging.compared(plane, old, new, key)


def staged_rows(
    plane: Plane, target: Input, replacement: Input, time: int, limit: int | None = None
) -> ResultSet:
    """The rows that a replacement would add and remove at `time` (ms): mz_diff, its columns."""
    return staging.rows(plane, target, replacement, time, limit)


def query_changes(plane: Plane, old: Query, new: Query) -> ResultSet:
    """What a query gives at `new.time` less what it gave at `old.time`: its columns (by place),
    mz_timestamp (`new.time`), mz_diff. Raises as `read` does."""
    return subscribing.query_changes(plane, old, new)


def view_changes(plane: Plane, view: View, after: int, upto: int) -> ResultSet:
    """The same for a query that is cut into blocks: made of its inputs' changes where that can
    be. The view has no data of its own; columns are by place. Raises as `read` does."""
    return subscribing.view_changes(plane, view, after, upto)


def inputs_changed(
    plane: Plane, inputs: Mapping[str, Input] | Sequence[Input], after: int, upto: int
) -> bool:
    """Whether any of the inputs may have changed with `after` < time <= `upto` (ms); reads
    commit files only, and says yes where they are gone."""
    wanted = inputs.values() if isinstance(inputs, Mapping) else inputs
    return any(activity.between(plane, source, after, upto).times for source in wanted)


def arm_fail_point(name: str, n: int = 1, victim: int = 0) -> None:
    """Make this process kill itself, or the process `victim`, at the `n`-th pass of a named
    point; empty disarms."""
    failpoint.arm(name, n, victim)


def pass_fail_point(name: failpoint.Point) -> None:
    """Pass a named point: this process ends there when it is armed for it."""
    failpoint.hit(name)
