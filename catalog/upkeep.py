"""Background work on committed rows: what is due, done once however often it is asked for."""

from __future__ import annotations

import logging
import time as clock
import uuid
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from catalog import leases, snapshot
from catalog.desired import drop_command, dropped_feeds, export_of, sources_of
from catalog.models import ExportProgress, Feed, FeedProgress, Job
from ingest import engine
from ingest.contract.commands import Export
from ingest.errors import HeadraceError, Transient

_log = logging.getLogger(__name__)
_OWNER = leases.owner_name(uuid.uuid4().hex[:8])
LEASE = 600.0
RETENTION = 3_600_000
"""How long (ms) log rows stay after every table has them."""


def _due(feed: str, export: Export, now: int) -> bool:
    try:
        tail = engine.tail_statistics(settings.HEADRACE_PLANE, feed, export)
        return engine.apply_due(tail, now)
    except HeadraceError:
        return False


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
        through = FeedProgress.objects.values_list("complete_through", flat=True).get(
            feed__region__name=region, feed__gid=feed
        )
        now = clock.time_ns() // 1_000_000
        for export in readable_exports(region, feed):
            if _due(feed, export, now):
                done = engine.apply(settings.HEADRACE_PLANE, feed, export, through)
                ExportProgress.objects.filter(
                    item__region__name=region, item__gid=export.table
                ).update(quarantined=done.quarantined)
    finally:
        job.delete()


def compact_feed(region: str, feed: str) -> None:
    """Join a log's small files, and trim what every table has had for long enough."""
    job = _claimed(region, "compact", feed)
    if job is None:
        return
    try:
        engine.compact(settings.HEADRACE_PLANE, feed)
        keep = _kept_after(region, feed)
        if keep > 0:
            engine.trim(settings.HEADRACE_PLANE, feed, keep)
    finally:
        job.delete()


def _kept_after(region: str, feed: str) -> int:
    """The time (ms) up to which the log may be trimmed; 0 when nothing may go."""
    picture = snapshot.current(region)
    tables = [t for s in sources_of(picture, feed) for t in picture.tables_of(s.id)]
    exports = readable_exports(region, feed)
    if not exports or len(exports) < len(tables):
        return 0
    tails = [engine.tail_statistics(settings.HEADRACE_PLANE, feed, one) for one in exports]
    oldest = min(tail.frontier for tail in tails)
    return min(oldest, clock.time_ns() // 1_000_000 - RETENTION)


def drop_feed(region: str, feed: str) -> None:
    """Drop the slot and the log of a feed that no source needs; then its row.

    Waits (by coming back later) until the feed's process has let go of it.
    """
    if feed not in dropped_feeds(region):
        return
    if leases.acquire_feed(region, feed, _OWNER) is None:
        return
    progress = FeedProgress.objects.filter(feed__region__name=region, feed__gid=feed)
    try:
        command = drop_command(region, feed)
        if command is not None:
            engine.drop_feed(settings.HEADRACE_PLANE, command)
        Feed.objects.filter(region__name=region, gid=feed).delete()
    except HeadraceError as error:
        progress.update(status="stalled", error=error.message, hint=error.hint or "")
        leases.release_feed(region, feed, _OWNER)
        raise


def due_jobs(region: str) -> tuple[int, ...]:
    """Keys of the one-time jobs that may run now."""
    rows = Job.objects.filter(region__name=region, kind="drop shard", due_at__lte=timezone.now())
    return tuple(rows.order_by("due_at").values_list("pk", flat=True)[:200])


def run_job(key: int) -> None:
    """Do a one-time job; one that fails for now comes back later."""
    job = Job.objects.filter(pk=key).first()
    if job is None or not leases.take_job(job, _OWNER, LEASE):
        return
    try:
        engine.drop_shard(settings.HEADRACE_PLANE, job.subject)
    except Transient as error:
        job.attempts += 1
        job.error = error.message
        job.due_at = timezone.now() + timedelta(seconds=min(300, 2**job.attempts))
        job.lease_owner, job.lease_expires = "", None
        job.save()
        return
    job.delete()


def _claimed(region: str, kind: str, feed: str) -> Job | None:
    """The job's row with its lease taken; None when somebody else is at it."""
    owner = Feed.objects.filter(region__name=region, gid=feed).first()
    if owner is None:
        return None
    job, _ = Job.objects.get_or_create(
        region=owner.region, kind=kind, subject=feed, defaults={"due_at": timezone.now()}
    )
    return job if leases.take_job(job, f"{_OWNER}:{uuid.uuid4().hex[:8]}", LEASE) else None
