"""Celery tasks: short, idempotent, given ids only; what they find in the catalog decides."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from celery import shared_task
from celery.signals import worker_init
from django.conf import settings

from catalog import desired, reads
from catalog.control import controller, upkeep
from catalog.maintenance import expiring, hydrating
from catalog.migrate import rollout
from catalog.names import SYSTEM_ROLE
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.source import RefreshReferences
from catalog.sql.render import render
from console import execute, fail_point
from ingest.errors import HeadraceError, Terminal, Transient

_log = logging.getLogger(__name__)
RETRY: dict[str, Any] = {
    "autoretry_for": (Transient,),
    "retry_backoff": 1,
    "retry_backoff_max": 60,
    "max_retries": 5,
}


@worker_init.connect
def _arm(**_: Any) -> None:
    fail_point.arm("worker")


@shared_task
def reconcile() -> None:
    """Compare what should be with what is, and start what is missing."""
    region = settings.HEADRACE_REGION
    controller.report_silent(region)
    for feed in desired.dropped_feeds(region):
        drop_feed.delay(feed=feed)
    expiring.expire(region)
    for key in upkeep.due_jobs(region):
        run_job.delay(key=key)
    for shard in hydrating.wanted(region):
        hydrate_view.apply_async(kwargs={"shard": shard}, expires=20)


@shared_task
def hydrate_view(*, shard: str) -> None:
    """Compute a view's first rows; what reads it can follow at once."""
    if hydrating.hydrate(settings.HEADRACE_REGION, shard):
        reconcile.apply_async(expires=5)


@shared_task
def fold_views() -> None:
    """Look at every view's steps."""
    for shard in upkeep.foldable_views(settings.HEADRACE_REGION):
        fold_view.apply_async(kwargs={"shard": shard}, expires=20)


@shared_task(**RETRY)  # type: ignore[untyped-decorator]
def fold_view(*, shard: str) -> None:
    """Fold a view's steps into its base."""
    upkeep.fold_view(settings.HEADRACE_REGION, shard)


@shared_task(**RETRY)  # type: ignore[untyped-decorator]
def apply(*, feed: str) -> None:
    """Fold the due tails of a feed's tables into their bases."""
    upkeep.apply_feed(settings.HEADRACE_REGION, feed)


@shared_task
def apply_all() -> None:
    """Look at every feed's tails."""
    for feed in desired.wanted_feeds(settings.HEADRACE_REGION):
        apply.apply_async(kwargs={"feed": feed}, expires=20)


@shared_task
def compact_all() -> None:
    """Keep every feed's log short."""
    for feed in desired.wanted_feeds(settings.HEADRACE_REGION):
        compact.apply_async(kwargs={"feed": feed}, expires=60)


@shared_task
def compact(*, feed: str) -> None:
    """Keep one feed's log short; what does not work now works next time."""
    try:
        upkeep.compact_feed(settings.HEADRACE_REGION, feed)
    except Transient as error:
        _log.info("log of %s not compacted: %s", feed, error.message)


@shared_task
def drop_feed(*, feed: str) -> None:
    """Drop the slot and log of a feed that no source needs any more."""
    try:
        upkeep.drop_feed(settings.HEADRACE_REGION, feed)
    except (Transient, Terminal) as error:
        _log.warning("feed %s not dropped yet: %s", feed, error.message)


@shared_task(**RETRY)  # type: ignore[untyped-decorator]
def run_job(*, key: int) -> None:
    """Do a one-time job."""
    upkeep.run_job(key)


@shared_task
def migrate_due() -> None:
    """Go on with migrations whose process ended, and apply those whose window is open."""
    for region, migration, error in rollout.run_due():
        _log.info("migration %s of %s: %s", migration, region, error or "done")


@dataclass(frozen=True)
class _System:
    """Whose statements the worker runs."""

    email: str = SYSTEM_ROLE
    is_superuser: bool = True


@shared_task
def refresh_references(*, source: str) -> None:
    """Ask a source's upstream what it offers now."""
    row = reads.item(source)
    if row is None:
        return
    statement = RefreshReferences(Name((row.database, row.schema, row.name)))
    for outcome in execute.run(_System(), render(statement)):
        if isinstance(outcome, HeadraceError):
            _log.warning("references of %s not refreshed: %s", source, outcome.message)
