"""The timestamp oracle: mz_timestamps in ms, one sequence per region."""

from __future__ import annotations

import time

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from catalog.models import Region


def next_time(region: str, after: int = 0) -> int:
    """A fresh timestamp: larger than `after` and than every one handed out before, in any process.

    Follows the clock where it can; a clock that jumps back only makes it count on by ones.
    """
    floor = max(time.time_ns() // 1_000_000, after + 1)
    with transaction.atomic():
        rows = Region.objects.filter(name=region)
        rows.update(oracle_time=Greatest(F("oracle_time") + 1, Value(floor)))
        return rows.values_list("oracle_time", flat=True).get()


def read_floor(region: str) -> int:
    """The newest timestamp (ms) that any session has read at."""
    return Region.objects.values_list("read_time", flat=True).get(name=region)


def raise_read_floor(region: str, time: int) -> None:
    """Let no later strict serializable read, in any session, be older than `time` (ms)."""
    Region.objects.filter(name=region, read_time__lt=time).update(read_time=time)


def newest_time(region: str) -> int:
    """The newest timestamp that was handed out."""
    return Region.objects.values_list("oracle_time", flat=True).get(name=region)
