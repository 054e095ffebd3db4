"""Earlier versions of views whose time is over: their data goes, what they were is remembered."""

from __future__ import annotations

import uuid
from collections import defaultdict

from django.db import transaction
from django.utils import timezone

from catalog.models import Job, Region, ViewProgress, ViewVersion


def expire(region: str) -> tuple[str, ...]:
    """Let jobs remove the data of versions that no undo may bring back; their shards.

    A shard that an undo put in force again belongs to several versions, and goes with the last.
    """
    now = timezone.now()
    due = ViewVersion.objects.filter(item__region__name=region, until__gt=0, expires_at__lt=now)
    if not due.exclude(shard="").exists():
        return ()
    with transaction.atomic():
        row = Region.objects.select_for_update().get(name=region)
        gone = _over(row, set(due.exclude(shard="").values_list("shard", flat=True)))
        if not gone:
            return ()
        ViewVersion.objects.filter(item__region=row, shard__in=gone).update(shard="")
        ViewProgress.objects.filter(item__region=row, shard__in=gone).delete()
        jobs = [Job(region=row, kind="drop shard", subject=shard, due_at=now) for shard in gone]
        Job.objects.bulk_create(jobs, ignore_conflicts=True)
        row.stamp = uuid.uuid4()
        row.save(update_fields=["stamp"])
    return gone


def _over(region: Region, shards: set[str]) -> tuple[str, ...]:
    """Those of the shards that no version needs any more."""
    now = timezone.now()
    needed: dict[str, bool] = defaultdict(bool)
    rows = ViewVersion.objects.filter(item__region=region, shard__in=shards)
    for shard, until, expires in rows.values_list("shard", "until", "expires_at"):
        needed[shard] |= until == 0 or (expires is not None and expires > now)
    return tuple(sorted(shard for shard in shards if not needed[shard]))
