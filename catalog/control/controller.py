"""Between committed rows and the data plane: hosts of running feeds, and what they report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from catalog import history, leases, signals, snapshot
from catalog.desired import feed_command
from catalog.models import ExportProgress, FeedProgress, Region
from catalog.time.oracle import next_time
from ingest.contract.commands import Feed
from ingest.contract.reports import ExportReport, FeedReport

RENEW = 3.0
RESOLVE = 60.0
SILENCE = 8.0
"""Seconds without a renewed lease after which a feed's status says that its reader is silent."""


class Host:
    """The catalog's side of one running feed: an `ingest.contract.host.FeedHost`."""

    def __init__(self, region: str, feed: str, owner: str, epoch: int) -> None:
        self._region = region
        self._feed = feed
        self._owner = owner
        self._epoch = epoch
        self._lock = threading.Lock()
        self._known: Feed | None = None
        self._revision = -1
        self._renewed = 0.0
        self._resolved = 0.0
        self._stopped = threading.Event()
        self._before: dict[str, tuple[int, int]] = {}

    def stop(self) -> None:
        """Make `desired` say so from now on."""
        self._stopped.set()

    def desired(self) -> Feed | None:
        """The newest definition, None to stop: asked to, dropped, or the lease is lost."""
        if self._stopped.is_set():
            return None
        with self._lock:
            now = time.monotonic()
            if now - self._renewed > RENEW:
                if not leases.renew_feed(self._region, self._feed, self._owner, self._epoch):
                    self._stopped.set()
                    return None
                self._renewed = now
            revision = snapshot.current(self._region).revision
            if revision != self._revision or now - self._resolved > RESOLVE:
                found = feed_command(self._region, self._feed)
                self._known = None if found is None else replace(found, epoch=self._epoch)
                self._revision, self._resolved = revision, now
            return self._known

    def next_time(self, after: int) -> int:
        """A fresh mz_timestamp (ms) greater than `after`."""
        return next_time(self._region, after)

    def report(self, reports: tuple[FeedReport | ExportReport, ...]) -> None:
        """Make reports visible, together; this life's counts go on where the last one's ended.

        A life that is over is not heard any more: the feed's next reader has batches under way
        that are older than the time which it would call complete.
        """
        mine = tuple(self._continued(report) for report in reports)
        if not write_reports(self._region, mine, (self._feed, self._epoch)):
            self._stopped.set()

    def _continued(self, report: FeedReport | ExportReport) -> FeedReport | ExportReport:
        if isinstance(report, FeedReport):
            messages, bytes_ = self._counted(report.feed, _feed_counts)
            return replace(
                report, messages=report.messages + messages, bytes=report.bytes + bytes_
            )
        committed, _ = self._counted(report.table, _table_counts)
        return replace(report, updates_committed=report.updates_committed + committed)

    def _counted(self, gid: str, ask: Callable[[str, str], tuple[int, int]]) -> tuple[int, int]:
        if gid not in self._before:
            self._before[gid] = ask(self._region, gid)
        return self._before[gid]


def _feed_counts(region: str, feed: str) -> tuple[int, int]:
    rows = FeedProgress.objects.filter(feed__region__name=region, feed__gid=feed)
    return rows.values_list("messages", "bytes").first() or (0, 0)


def _table_counts(region: str, table: str) -> tuple[int, int]:
    rows = ExportProgress.objects.filter(item__region__name=region, item__gid=table)
    return rows.values_list("updates_committed", flat=True).first() or 0, 0


def report_silent(region: str) -> None:
    """Let feeds say so whose process gives no sign of life, be it stopped, hung or cut off."""
    for feed in leases.silent_feeds(region, SILENCE):
        report_stopped(region, feed, "the feed's process gives no sign of life")


def report_stopped(region: str, feed: str, reason: str) -> None:
    """Let a feed that was last heard of at work say that its process ended or hangs."""
    heard = FeedProgress.objects.filter(feed__region__name=region, feed__gid=feed)
    progress = heard.filter(status__in=("running", "starting")).first()
    if progress is None:
        return
    report = FeedReport(
        feed,
        "stalled",
        retained_bytes=progress.retained_bytes,
        error=reason,
        hint="Nothing to do: another process takes over.",
    )
    write_reports(region, (report,))


def write_reports(
    region: str,
    reports: tuple[FeedReport | ExportReport, ...],
    life: tuple[str, int] | None = None,
) -> bool:
    """Store reports in one transaction, statuses' history where they changed, then tell.

    `life` is the feed and the epoch that speak; False, and nothing stored, when a newer one does.
    """
    ids = []
    with transaction.atomic():
        row = Region.objects.get(name=region)
        if life is not None and not leases.is_current(region, *life):
            return False
        for report in reports:
            if isinstance(report, FeedReport):
                _feed(row, report)
                ids.append(report.feed)
        exports = [report for report in reports if isinstance(report, ExportReport)]
        ids += _exports(row, exports)
    signals.reported.send(sender=None, region=region, ids=tuple(ids))
    return True


def _feed(region: Region, report: FeedReport) -> None:
    progress = FeedProgress.objects.filter(feed__region=region, feed__gid=report.feed).first()
    if progress is None:
        return
    now = timezone.now()
    if _status_of(progress) != _status_of(report):
        progress.changed_at = now
        history.status(
            region,
            report.feed,
            report.status,
            now,
            error=report.error,
            detail=report.detail,
            hint=report.hint,
        )
    progress.status = report.status
    progress.error, progress.detail, progress.hint = report.error, report.detail, report.hint
    progress.complete_through = max(progress.complete_through, report.complete_through)
    progress.upto = max(progress.upto, report.upto)
    progress.upstream = max(progress.upstream, report.upstream)
    progress.retained_bytes = report.retained_bytes
    progress.messages = max(progress.messages, report.messages)
    progress.bytes = max(progress.bytes, report.bytes)
    progress.reported_at = now
    progress.save()


def _exports(region: Region, reports: list[ExportReport]) -> list[str]:
    tables = {report.table: report for report in reports}
    rows = ExportProgress.objects.filter(item__region=region, item__gid__in=tables).select_related(
        "item"
    )
    now = timezone.now()
    changed: list[ExportProgress] = []
    fields = {"reported_at"}
    for progress in rows:
        report = tables[progress.item.gid]
        differing = _differing(progress, report)
        if not differing:
            continue
        fields |= differing
        if _status_of(progress) != _status_of(report):
            progress.changed_at = now
            fields.add("changed_at")
            history.status(
                region,
                report.table,
                report.status,
                now,
                error=report.error,
                detail=report.detail,
                hint=report.hint,
            )
        _copy(progress, report)
        progress.reported_at = now
        changed.append(progress)
    ExportProgress.objects.bulk_update(changed, sorted(fields), 200)
    return [progress.item.gid for progress in changed]


_COPIED = (
    "status",
    "phase",
    "readable_from",
    "rows_known",
    "rows_staged",
    "bytes_staged",
    "updates_committed",
    "quarantined",
    "error",
    "detail",
    "hint",
)


_COPIED_AT_FIRST = ("rows_known", "rows_staged", "bytes_staged")


def _differing(progress: ExportProgress, report: ExportReport) -> set[str]:
    """Most of the time it is one count of many tables, and that is all that should be written."""
    return {name for name in _COPIED if getattr(progress, name) != getattr(report, name)}


def _copy(progress: ExportProgress, report: ExportReport) -> None:
    """A restarted feed, and one whose table has another id now, does not know what was copied,
    nor since when it can be read; that stays."""
    kept = {name: getattr(progress, name) for name in _COPIED_AT_FIRST}
    kept["quarantined"] = max(report.quarantined, progress.quarantined)
    kept["readable_from"] = progress.readable_from or report.readable_from
    if report.phase == "snapshot" or report.rows_staged:
        kept = {name: kept[name] for name in ("quarantined", "readable_from")}
    for name in _COPIED:
        setattr(progress, name, kept.get(name, getattr(report, name)))


def _status_of(
    row: FeedProgress | ExportProgress | FeedReport | ExportReport,
) -> tuple[str, str, str, str]:
    return row.status, row.error, row.detail, row.hint
