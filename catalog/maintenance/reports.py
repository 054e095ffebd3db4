"""What is known of views' data, written where everybody sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog import history, signals
from catalog.models import Maintainer, Region, ViewProgress
from ingest.contract.reports import Status
from ingest.errors import HeadraceError


@dataclass(frozen=True)
class ViewReport:
    """The state of one shard of a view; what is None stays as it was. Times in ms."""

    shard: str
    status: Status | None = None
    hydrated: bool | None = None
    readable_from: int | None = None
    complete_through: int | None = None
    rows: int | None = None
    bytes: int | None = None
    percent: int | None = None
    rate: float | None = None
    how: str | None = None
    reason: str | None = None
    error: str | None = None
    detail: str | None = None
    hint: str | None = None
    sqlstate: str | None = None


@dataclass(frozen=True)
class Standing:
    """What must still hold for reports to count: the catalog's revision that they were made at,
    and the epoch of the maintainer that makes them; None where it does not matter."""

    revision: int | None = None
    epoch: int | None = None


_TOLD = ("status", "error", "detail", "hint")
_NAMES = tuple(field.name for field in fields(ViewReport) if field.name != "shard")


def failed(shard: str, error: HeadraceError) -> ViewReport:
    """A view that cannot go on for now."""
    return ViewReport(
        shard,
        "stalled",
        error=error.message,
        detail=error.detail or "",
        hint=error.hint or "",
        sqlstate=error.sqlstate,
    )


def cleared(report: ViewReport) -> ViewReport:
    """The report of a view that has no trouble any more."""
    return replace(report, error="", detail="", hint="", sqlstate="")


def write(region: str, reports: Iterable[ViewReport], standing: Standing | None = None) -> bool:
    """Store reports in one transaction, statuses' history where they changed, then tell.

    False, and nothing is stored, when the `standing` does not hold any more.
    """
    by_shard = {report.shard: report for report in reports}
    if not by_shard:
        return True
    with transaction.atomic():
        row = Region.objects.select_for_update().get(name=region)
        if standing is not None and not _holds(row, standing):
            return False
        found = ViewProgress.objects.filter(shard__in=by_shard, item__region=row)
        ids = [_store(row, one, by_shard[one.shard]) for one in found.select_related("item")]
    signals.reported.send(sender=None, region=region, ids=tuple(ids))
    return True


def advance(region: str, through: dict[str, int], standing: Standing) -> bool:
    """Let shards be complete through later times, in one write; False when the `standing` does
    not hold any more."""
    if not through:
        return True
    now = timezone.now()
    with transaction.atomic():
        row = Region.objects.select_for_update().get(name=region)
        if not _holds(row, standing):
            return False
        found = list(
            ViewProgress.objects.filter(shard__in=through, item__region=row).select_related("item")
        )
        for one in found:
            one.complete_through = max(one.complete_through, through[one.shard])
            one.reported_at = now
        ViewProgress.objects.bulk_update(found, ["complete_through", "reported_at"], 200)
    ids = tuple(one.item.gid for one in found)
    signals.reported.send(sender=None, region=region, ids=ids)
    return True


def _holds(region: Region, standing: Standing) -> bool:
    if standing.revision is not None and standing.revision != region.revision:
        return False
    if standing.epoch is None:
        return True
    return Maintainer.objects.filter(region=region, epoch=standing.epoch).exists()


def _store(region: Region, progress: ViewProgress, report: ViewReport) -> str:
    before, through = _told(progress), progress.complete_through
    for name in _NAMES:
        value: Any = getattr(report, name)
        if value is not None:
            setattr(progress, name, value)
    if report.readable_from is None:
        progress.complete_through = max(through, progress.complete_through)
    now = timezone.now()
    progress.reported_at = now
    item = progress.item
    if _told(progress) != before:
        progress.changed_at = now
        if progress.shard == item.shard:
            status, error, detail, hint = _told(progress)
            history.status(region, item.gid, status, now, error=error, detail=detail, hint=hint)
    progress.save()
    return item.gid


def _told(progress: ViewProgress) -> tuple[str, str, str, str]:
    status, error, detail, hint = (str(getattr(progress, name)) for name in _TOLD)
    return status, error, detail, hint
