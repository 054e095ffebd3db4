"""Background work on committed rows: what is due, done once however often it is asked for."""

from __future__ import annotations

import logging
import time as clock
import uuid
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from catalog import history, leases, snapshot
from catalog.control import turns
from catalog.desired import drop_command, dropped_feeds, export_of, sources_of
from catalog.maintenance.kept import kept_of as maintained
from catalog.models import ExportProgress, Feed, FeedProgress, Job, Region, ViewProgress
from catalog.names import SYSTEM_ROLE
from catalog.planes import plane_of
from ingest import engine
from ingest.contract.commands import Export, Generator
from ingest.errors import HeadraceError, Transient

_log = logging.getLogger(__name__)
_OWNER = leases.owner_name(uuid.uuid4().hex[:8])
LEASE = 600.0
DROP_ATTEMPTS = 20
LONGEST_WAIT = 600
"""Seconds between two attempts to drop a slot, at most; twenty attempts take two hours."""
RETENTION = 3_600_000
"""How long (ms) log rows stay after every table has them."""


def readable_exports(region: str, feed: str) -> tuple[Export, ...]:
    """The feed's tables that have their snapshot and have not failed."""
    picture = snapshot.current(region)
    rows = ExportProgress.objects.filter(item__region__name=region, readable_from__gt=0)
    readable = set(rows.exclude(status="failed").values_list("item__gid", flat=True))
    return tuple(
        export_of(table, hydrated=True)
        for source in sources_of(picture, feed)
        for table in picture.tables_of(source.id)
        if table.id in readable
    )


def apply_feed(region: str, feed: str) -> None:
    """Fold the due tails of a feed's tables into their bases."""
    job = _claimed(region, "apply", feed)
    if job is None:
        return
    try:
        for export in readable_exports(region, feed):
            if not leases.take_job(job, job.lease_owner, LEASE):
                return
            try:
                _apply(region, feed, export)
            except HeadraceError as error:
                _log.warning("table %s not folded yet: %s", export.table, error.message)
    finally:
        _done(job)


def _apply(region: str, feed: str, export: Export) -> None:
    """Fold one table's tail if it is due; one table's trouble leaves the others alone."""
    plane = plane_of(region)
    tail = engine.tail_statistics(plane, feed, export)
    now = clock.time_ns() // 1_000_000
    if not engine.apply_due(tail, now, settings.HEADRACE_FOLD_ROWS):
        return
    turns.after_steps(region, export.table, _through(region, feed))
    done = engine.apply(plane, feed, export, _through(region, feed))
    rows = ExportProgress.objects.filter(item__region__name=region, item__gid=export.table)
    rows.update(quarantined=done.quarantined)


def _through(region: str, feed: str) -> int:
    progress = FeedProgress.objects.filter(feed__region__name=region, feed__gid=feed)
    return progress.values_list("complete_through", flat=True).get()


def compact_feed(region: str, feed: str) -> None:
    """Join a log's small files, trim what every table has had for long enough, and clean up."""
    job = _claimed(region, "compact", feed)
    if job is None:
        return
    plane = plane_of(region)
    try:
        engine.compact(plane, feed, settings.HEADRACE_LOG_FILES)
        keep = _kept_after(region, feed)
        if keep > 0:
            engine.trim(plane, feed, keep)
        for export in readable_exports(region, feed):
            if not leases.take_job(job, job.lease_owner, LEASE):
                return
            engine.clean(plane, export.shard)
    finally:
        _done(job)


def _kept_after(region: str, feed: str) -> int:
    """The time (ms) up to which the log may be trimmed; 0 when nothing may go.

    A table without its snapshot will need the log; one that has failed never does again.
    """
    picture = snapshot.current(region)
    tables = {t.id for s in sources_of(picture, feed) for t in picture.tables_of(s.id)}
    exports = readable_exports(region, feed)
    rows = ExportProgress.objects.filter(item__region__name=region, item__gid__in=tables)
    failed = set(rows.filter(status="failed").values_list("item__gid", flat=True))
    if tables - failed - {export.table for export in exports}:
        return 0
    horizon = clock.time_ns() // 1_000_000 - RETENTION
    return engine.trimmable(plane_of(region), feed, exports, horizon)


def foldable_views(region: str) -> tuple[str, ...]:
    """The shards of maintained views that have rows."""
    rows = ViewProgress.objects.filter(item__region__name=region, hydrated=True)
    return tuple(rows.order_by("pk").values_list("shard", flat=True))


def fold_view(region: str, shard: str) -> None:
    """Fold a view's steps into its base when there are many."""
    found = maintained(snapshot.current(region)).get(shard)
    job = None if found is None or found.view is None else _claimed_in(region, "fold", shard)
    if job is None or found is None or found.view is None:
        return
    try:
        engine.fold_view(plane_of(region), shard, found.view.relation)
    finally:
        _done(job)


def drop_feed(region: str, feed: str) -> None:
    """Drop the slot and the log of a feed that no source needs; then its row.

    Waits (by coming back later) until the feed's process has let go of it, and whoever compacts
    its log. An upstream that does not answer is asked again, more and more seldom, some two hours;
    then its slot is left there.
    """
    if feed not in dropped_feeds(region):
        return
    row = Feed.objects.select_related("region").get(region__name=region, gid=feed)
    job, _ = Job.objects.get_or_create(
        region=row.region, kind="drop feed", subject=feed, defaults={"due_at": timezone.now()}
    )
    owner = _owner()
    if job.due_at > timezone.now() or leases.acquire_feed(region, feed, owner) is None:
        return
    compaction = _claimed_in(region, "compact", feed)
    if compaction is None:
        leases.release_feed(region, feed, owner)
        return
    try:
        command = drop_command(region, feed)
        if command is not None:
            engine.drop_feed(plane_of(region), command)
        row.delete()
        job.delete()
    except HeadraceError as error:
        leases.release_feed(region, feed, owner)
        _drop_later(job, row, error)
        raise
    finally:
        _done(compaction)


def _drop_later(job: Job, row: Feed, error: HeadraceError) -> None:
    job.attempts += 1
    job.error = error.message
    job.due_at = timezone.now() + timedelta(seconds=min(LONGEST_WAIT, 2**job.attempts))
    if job.attempts >= DROP_ATTEMPTS:
        _abandon(row, error)
        job.delete()
        return
    job.save()
    FeedProgress.objects.filter(feed=row).update(
        status="stalled", error=error.message, hint=error.hint or ""
    )


def _abandon(row: Feed, error: HeadraceError) -> None:
    """Give the slot up: tell its name where operators look, and remove the log."""
    command = drop_command(row.region.name, row.gid)
    plane = plane_of(row.region.name)
    if command is not None:
        engine.drop_feed(plane, replace(command, target=Generator("counter", 0)))
    message = f'replication slot "{row.slot}" was left upstream'
    hint = f"Drop it there: SELECT pg_drop_replication_slot('{row.slot}')"
    now = timezone.now()
    with transaction.atomic():
        region = Region.objects.select_for_update().get(pk=row.region.pk)
        audit = history.Audit(region, SYSTEM_ROLE, now)
        details = {"id": row.gid, "slot": row.slot, "upstream": row.identity}
        audit.add("drop", "feed", row.gid, {**details, "left": error.message})
        audit.write()
        region.save(update_fields=["next_audit"])
        Feed.objects.filter(pk=row.pk).update(desired=Feed.Desired.ABANDONED, definition={})
        FeedProgress.objects.filter(feed=row).update(
            status="failed", error=message, detail=error.message, hint=hint, changed_at=now
        )
        history.status(
            region, row.gid, "failed", now, error=message, detail=error.message, hint=hint
        )


def due_jobs(region: str) -> tuple[int, ...]:
    """Keys of the one-time jobs that may run now."""
    rows = Job.objects.filter(region__name=region, kind="drop shard", due_at__lte=timezone.now())
    return tuple(rows.order_by("due_at").values_list("pk", flat=True)[:200])


def run_job(key: int) -> None:
    """Do a one-time job; one that fails for now comes back later.

    A table's data that was there is looked for again: work that began before the table was dropped
    may have written since.
    """
    job = Job.objects.filter(pk=key).select_related("region").first()
    if job is None or not leases.take_job(job, _owner(), LEASE):
        return
    try:
        if not engine.drop_shard(plane_of(job.region.name), job.subject):
            job.delete()
            return
        job.error, wait = "", LEASE
    except Transient as error:
        job.attempts += 1
        job.error, wait = error.message, min(300, 2**job.attempts)
    job.due_at = timezone.now() + timedelta(seconds=wait)
    job.lease_owner, job.lease_expires = "", None
    job.save()


def _claimed(region: str, kind: str, feed: str) -> Job | None:
    """The job's row with its lease taken; None when somebody else is at it."""
    known = Feed.objects.filter(region__name=region, gid=feed).exists()
    return _claimed_in(region, kind, feed) if known else None


def _claimed_in(region: str, kind: str, subject: str) -> Job | None:
    job, _ = Job.objects.get_or_create(
        region=Region.objects.get(name=region),
        kind=kind,
        subject=subject,
        defaults={"due_at": timezone.now()},
    )
    job.lease_owner = _owner()
    return job if leases.take_job(job, job.lease_owner, LEASE) else None


def _owner() -> str:
    """Who takes one lease: the threads of a worker are others to one another."""
    return f"{_OWNER}:{uuid.uuid4().hex[:8]}"


def _done(job: Job) -> None:
    """Delete the job, unless its lease ran out and somebody else is at it."""
    Job.objects.filter(pk=job.pk, lease_owner=job.lease_owner).delete()
