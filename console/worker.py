"""Celery tasks: short, idempotent, given ids only; what they find in the catalog decides."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from celery import shared_task
from celery.signals import worker_init
from django.conf import settings

from catalog import desired, reads
from catalog.control import controller, upkeep
from catalog.here import within
from catalog.maintenance import expiring, hydrating
from catalog.migrate import rollout
from catalog.names import SYSTEM_ROLE
from catalog.regions import region_names
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
    for region in region_names():
        _reconcile(region)


def _reconcile(region: str) -> None:
    controller.report_silent(region)
    for feed in desired.dropped_feeds(region):
        drop_feed.delay(feed=feed, region=region)
    expiring.expire(region)
    for key in upkeep.due_jobs(region):
        run_job.delay(key=key)
    for shard in hydrating.wanted(region):
        hydrate_view.apply_async(kwargs={"shard": shard, "region": region}, expires=20)


@shared_task
def hydrate_view(*, shard: str, region: str = "") -> None:
    """Compute a view's first rows; what reads it can follow at once."""
    if hydrating.hydrate(_region(region), shard):
        reconcile.apply_async(expires=5)


@shared_task
def fold_views() -> None:
    """Look at every view's steps."""
    for region in region_names():
        for shard in upkeep.foldable_views(region):
            fold_view.apply_async(kwargs={"shard": shard, "region": region}, expires=20)


@shared_task(**RETRY)  # type: ignore[untyped-decorator]
def fold_view(*, shard: str, region: str = "") -> None:
    """Fold a view's steps into its base."""
    upkeep.fold_view(_region(region), shard)


@shared_task(**RETRY)  # type: ignore[untyped-decorator]
def apply(*, feed: str, region: str = "") -> None:
    """Fold the due tails of a feed's tables into their bases."""
    upkeep.apply_feed(_region(region), feed)


@shared_task
def apply_all() -> None:
    """Look at every feed's tails."""
    for region, feed in _feeds():
        apply.apply_async(kwargs={"feed": feed, "region": region}, expires=20)


@shared_task
def compact_all() -> None:
    """Keep every feed's log short."""
    for region, feed in _feeds():
        compact.apply_async(kwargs={"feed": feed, "region": region}, expires=60)


def _feeds() -> Iterator[tuple[str, str]]:
    for region in region_names():
        for feed in desired.wanted_feeds(region):
            yield region, feed


@shared_task
def compact(*, feed: str, region: str = "") -> None:
    """Keep one feed's log short; what does not work now works next time."""
    try:
        upkeep.compact_feed(_region(region), feed)
    except Transient as error:
        _log.info("log of %s not compacted: %s", feed, error.message)


@shared_task
def drop_feed(*, feed: str, region: str = "") -> None:
    """Drop the slot and log of a feed that no source needs any more."""
    try:
        upkeep.drop_feed(_region(region), feed)
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
def refresh_references(*, source: str, region: str = "") -> None:
    """Ask a source's upstream what it offers now."""
    with within(_region(region)):
        row = reads.item(source)
        if row is None:
            return
        statement = RefreshReferences(Name((row.database, row.schema, row.name)))
        for outcome in execute.run(_System(), render(statement)):
            if isinstance(outcome, HeadraceError):
                _log.warning("references of %s not refreshed: %s", source, outcome.message)


def _region(name: str) -> str:
    """The region that a task names; one of before there were several names none."""
    return name or str(settings.HEADRACE_REGION)
