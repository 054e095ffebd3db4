"""Leases on feeds and jobs, by the database's clock: one owner at a time, and no lock is kept."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from catalog.models import Feed, Job, Maintainer, Region

SECONDS = 15


def owner_name(nonce: str) -> str:
    """A name for this process as an owner: `host:pid:nonce`."""
    return f"{socket.gethostname()}:{os.getpid()}:{nonce}"


def _until(seconds: float) -> Combinable:
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _free(owner: str) -> Q:
    return Q(lease_owner="") | Q(lease_owner=owner) | Q(lease_expires__lt=Now())


def acquire_feed(region: str, gid: str, owner: str) -> int | None:
    """Take a feed's lease for a new start: its epoch, or None while another owner has it.

    An owner that was a process of this host and is gone does not count.
    """
    rows = Feed.objects.filter(region__name=region, gid=gid)
    if not _take(rows, owner, epoch=F("epoch") + 1):
        holder = rows.values_list("lease_owner", flat=True).first()
        if holder is None or not _dead(holder):
            return None
        if not rows.filter(lease_owner=holder).update(
            lease_owner=owner, lease_expires=_until(SECONDS), epoch=F("epoch") + 1
        ):
            return None
    return rows.values_list("epoch", flat=True).get()


def _take(rows: QuerySet[Any], owner: str, seconds: float = SECONDS, **changes: Any) -> bool:
    free = rows.filter(_free(owner))
    return bool(free.update(lease_owner=owner, lease_expires=_until(seconds), **changes))


def renew_feed(region: str, gid: str, owner: str, epoch: int) -> bool:
    """Keep a lease; False when it was lost, which the epoch tells for sure."""
    rows = Feed.objects.filter(region__name=region, gid=gid, lease_owner=owner, epoch=epoch)
    return bool(rows.update(lease_expires=_until(SECONDS)))


def is_current(region: str, gid: str, epoch: int) -> bool:
    """Whether no newer life of the feed has begun, nor will before this transaction ends."""
    rows = Feed.objects.select_for_update().filter(region__name=region, gid=gid)
    return rows.values_list("epoch", flat=True).first() == epoch


def release_feed(region: str, gid: str, owner: str) -> None:
    """Give a lease back early."""
    rows = Feed.objects.filter(region__name=region, gid=gid, lease_owner=owner)
    rows.update(lease_owner="", lease_expires=None)


def take_job(job: Job, owner: str, seconds: float) -> bool:
    """Take a job's lease; an owner that was a process of this host and is gone does not count."""
    return take_row(Job.objects.filter(pk=job.pk), owner, seconds)


def take_row(rows: QuerySet[Any], owner: str, seconds: float) -> bool:
    """Take the lease of the one row of `rows`; an owner that is gone does not count."""
    if _take(rows, owner, seconds):
        return True
    holder = rows.values_list("lease_owner", flat=True).first()
    if holder is None or not _dead(holder):
        return False
    taken = rows.filter(lease_owner=holder)
    return bool(taken.update(lease_owner=owner, lease_expires=_until(seconds)))


def expired_feed(region: str, gid: str, owner: str, seconds: float) -> bool:
    """Whether the owner has let its lease on the feed run out so long ago."""
    mine = Feed.objects.filter(region__name=region, gid=gid, lease_owner=owner)
    return mine.filter(lease_expires__lt=_until(-seconds)).exists()


def silent_feeds(region: str, seconds: float) -> tuple[str, ...]:
    """Feeds that should run and whose lease nobody has renewed for so long."""
    rows = Feed.objects.filter(region__name=region, desired=Feed.Desired.RUNNING)
    rows = rows.filter(lease_expires__lt=_until(SECONDS - seconds))
    return tuple(rows.values_list("gid", flat=True))


def is_gone(owner: str) -> bool:
    """Whether nobody is behind the name any more: it is empty, or that of a process of this host
    that has ended."""
    return not owner or _dead(owner)


def acquire_views(region: str, owner: str) -> int | None:
    """Take the lease on keeping a region's views: its epoch, or None while another has it."""
    key = Region.objects.values_list("pk", flat=True).get(name=region)
    Maintainer.objects.get_or_create(region_id=key)
    rows = Maintainer.objects.filter(region_id=key)
    if not _take(rows, owner, epoch=F("epoch") + 1):
        holder = rows.values_list("lease_owner", flat=True).first()
        if holder is None or not _dead(holder):
            return None
        taken = rows.filter(lease_owner=holder)
        if not taken.update(
            lease_owner=owner, lease_expires=_until(SECONDS), epoch=F("epoch") + 1
        ):
            return None
    return rows.values_list("epoch", flat=True).get()


def renew_views(region: str, owner: str, epoch: int) -> bool:
    """Keep the lease on a region's views; False when it was lost."""
    rows = Maintainer.objects.filter(region__name=region, lease_owner=owner, epoch=epoch)
    return bool(rows.update(lease_expires=_until(SECONDS)))


def release_views(region: str, owner: str) -> None:
    """Give the lease on a region's views back early."""
    rows = Maintainer.objects.filter(region__name=region, lease_owner=owner)
    rows.update(lease_owner="", lease_expires=None)


def _dead(owner: str) -> bool:
    """Whether the owner was a process of this host and is no more."""
    host, _, rest = owner.partition(":")
    pid = rest.partition(":")[0]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
