"""The first computation of a view's rows: started, followed, stopped, and done once."""

from __future__ import annotations

import logging
import threading
import time as clock
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import Error as DatabaseError
from django.db import close_old_connections
from django.utils import timezone

from catalog import leases, snapshot
from catalog.desired import view_command
from catalog.maintenance import reports
from catalog.maintenance.kept import views_of
from catalog.maintenance.reports import ViewReport
from catalog.models import Job, Region, ViewProgress
from catalog.plan.picture import Picture
from catalog.planes import plane_of
from catalog.time.bounds import bounds
from catalog.time.exactness import exact
from catalog.time.oracle import newest_time
from ingest import engine
from ingest.contract.views import Hydration, View
from ingest.errors import HeadraceError, Transient

KIND = "hydrate"
LEASE = 30.0
EVERY = 0.5
"""Seconds between two reports of how far it is, and between two looks at whether to go on."""
AT_ONCE = 2
LONGEST_WAIT = 60
_log = logging.getLogger(__name__)
_OWNER = leases.owner_name(uuid.uuid4().hex[:8])


def wanted(region: str) -> tuple[str, ...]:
    """The shards that are to be hydrated now, oldest views first."""
    rows = ViewProgress.objects.filter(item__region__name=region, hydrated=False, cancelled=False)
    jobs = Job.objects.filter(region__name=region, kind=KIND)
    jobs.exclude(subject__in=ViewProgress.objects.values("shard")).delete()
    waiting = set(jobs.filter(due_at__gt=timezone.now()).values_list("subject", flat=True))
    shards = rows.order_by("item__pk").values_list("shard", flat=True)
    inforce = {entry.shard for entry in views_of(snapshot.current(region))}
    return tuple(shard for shard in shards if shard in inforce and shard not in waiting)


def cancel_hydration(region: str, item: str) -> bool:
    """Stop a view's first computation until `resume_hydration`; whether there was one to stop."""
    return _cancelled(region, item, cancelled=True)


def resume_hydration(region: str, item: str) -> bool:
    """Let a view's first computation go on that was stopped; whether it was."""
    return _cancelled(region, item, cancelled=False)


def _cancelled(region: str, item: str, *, cancelled: bool) -> bool:
    entry = snapshot.current(region).entries.get(item)
    if entry is None or entry.kind != "materialized view":
        return False
    rows = ViewProgress.objects.filter(shard=entry.shard, hydrated=False, cancelled=not cancelled)
    if not rows.update(cancelled=cancelled):
        return False
    reason = "its hydration was cancelled" if cancelled else ""
    began = ViewReport(entry.shard, "paused" if cancelled else "created", percent=0, reason=reason)
    reports.write(region, [reports.cleared(began)])
    Job.objects.filter(region__name=region, kind=KIND, subject=entry.shard).update(
        due_at=timezone.now()
    )
    return True


def hydrate(region: str, shard: str) -> bool:
    """Compute a shard's rows unless somebody is at it; whether it has them now.

    Raises nothing for what the definition does wrong: the view's status tells it.
    """
    job = _claimed(region, shard)
    if job is None:
        return False
    try:
        return _hydrate(region, shard, job)
    except HeadraceError as error:
        _fail(region, shard, job, error)
        return False
    finally:
        Job.objects.filter(pk=job.pk, lease_owner=job.lease_owner).update(
            lease_owner="", lease_expires=None
        )


def _hydrate(region: str, shard: str, job: Job) -> bool:
    picture = snapshot.current(region)
    entry = next((one for one in views_of(picture) if one.shard == shard), None)
    progress = ViewProgress.objects.filter(shard=shard).first()
    if entry is None or progress is None or progress.hydrated or progress.cancelled:
        job.delete()
        return progress is not None and progress.hydrated
    view = view_command(picture, entry)
    if engine.view_state(plane_of(region), shard) is None:
        time = _time(region, picture, view)
        if isinstance(time, str):
            if progress.reason != time:
                reports.write(region, [ViewReport(shard, "created", reason=time)])
            return False
        engine.pass_fail_point("hydrate started")
        _compute(region, view, time, job)
    _done(region, view)
    job.delete()
    return True


def _time(region: str, picture: Picture, view: View) -> int | str:
    """The time (ms) to compute at: all inputs are readable, complete and exact; or what is in
    the way."""
    entries = [picture.entries[source.item] for source in view.inputs.values()]
    found = bounds(region, picture, entries)
    if found.waiting:
        return found.waiting[0]
    time = newest_time(region) if found.through is None else found.through
    if time < found.since:
        return f"its inputs are complete through {time}, and readable from {found.since}"
    for entry in entries:
        if entry.kind == "materialized view" and not exact(picture, entry, time):
            return f'materialized view "{entry.name}" has no rows of its own at {time}'
    return time


def _compute(region: str, view: View, time: int, job: Job) -> None:
    """Do it, telling how far it is, until it is done or nobody wants it any more."""
    began = ViewReport(view.shard, "starting", percent=0, rate=0.0, reason="")
    reports.write(region, [reports.cleared(began)])
    tag = f"hydrate-{view.shard}-{uuid.uuid4().hex[:8]}"
    told = 0.0

    def tell(done: Hydration) -> None:
        nonlocal told
        now = clock.monotonic()
        if now - told >= EVERY:
            told = now
            report = ViewReport(
                view.shard, percent=done.percent, rate=done.rate, rows=max(done.rows, 0)
            )
            reports.write(region, [report])

    with _watched(view.shard, job, tag):
        engine.hydrate_view(plane_of(region), view, time, tag, tell)


@contextmanager
def _watched(shard: str, job: Job, tag: str) -> Iterator[None]:
    """Keep the lease, and stop the work when the view is gone or its hydration was cancelled."""
    plane = plane_of(job.region.name)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(EVERY):
            with suppress(DatabaseError):
                rows = ViewProgress.objects.filter(shard=shard, cancelled=False)
                kept = leases.take_job(job, job.lease_owner, LEASE)
                if not kept or not rows.exists():
                    engine.cancel(plane, tag)
        close_old_connections()

    watcher = threading.Thread(target=watch, name=f"watch {shard}", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _done(region: str, view: View) -> None:
    state = engine.view_state(plane_of(region), view.shard)
    if state is None:
        raise Transient("the rows that were computed are not there", sqlstate="55000")
    done = ViewReport(
        view.shard,
        "running",
        hydrated=True,
        readable_from=state.since,
        complete_through=state.time,
        rows=state.rows,
        bytes=state.bytes,
        percent=100,
        how="hydrate",
        reason=view.root.reason,
    )
    reports.write(region, [reports.cleared(done)])


def _fail(region: str, shard: str, job: Job, error: HeadraceError) -> None:
    """Let the view say why it has no rows, and try again later; a cancelled one says so."""
    row = ViewProgress.objects.filter(shard=shard).first()
    if row is None:
        job.delete()
        return
    if row.cancelled:
        return
    _log.info("view of %s not hydrated yet: %s", shard, error.message)
    wait = min(LONGEST_WAIT, 2 ** min(job.attempts, 6))
    Job.objects.filter(pk=job.pk).update(
        attempts=job.attempts + 1,
        error=error.message,
        due_at=timezone.now() + timedelta(seconds=wait),
    )
    reports.write(region, [reports.failed(shard, error)])


def _claimed(region: str, shard: str) -> Job | None:
    """The job's row with its lease taken; None when somebody is at it, or enough others are."""
    others = Job.objects.filter(region__name=region, kind=KIND, lease_expires__gt=timezone.now())
    if others.exclude(subject=shard).count() >= AT_ONCE:
        return None
    job, _ = Job.objects.get_or_create(
        region=Region.objects.get(name=region),
        kind=KIND,
        subject=shard,
        defaults={"due_at": timezone.now()},
    )
    owner = f"{_OWNER}:{uuid.uuid4().hex[:8]}"
    if job.due_at > timezone.now() or not leases.take_job(job, owner, LEASE):
        return None
    job.lease_owner = owner
    return job
