"""A FeedHost in memory: what the catalog does for a feed, without a catalog."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from ingest.contract.commands import Export, ExportColumn, Feed
from ingest.contract.reports import ExportReport, FeedReport
from ingest.contract.types import TEXT
from ingest.contract.upstream import PostgresTarget, Reference
from ingest.feeds.postgres import list_references


class MemoryHost:
    def __init__(self, feed: Feed) -> None:
        self.feed: Feed | None = feed
        self.reports: list[FeedReport] = []
        self.exports: dict[str, ExportReport] = {}
        self._lock = threading.Lock()
        self._time = 0

    def desired(self) -> Feed | None:
        return self.feed

    def next_time(self, after: int) -> int:
        with self._lock:
            self._time = max(self._time + 1, after + 1, int(time.time() * 1000))
            return self._time

    def report(self, reports: tuple[FeedReport | ExportReport, ...]) -> None:
        with self._lock:
            for report in reports:
                if isinstance(report, FeedReport):
                    self.reports.append(report)
                else:
                    self.exports[report.table] = report

    @property
    def last(self) -> FeedReport:
        return self.reports[-1] if self.reports else FeedReport("", "created")

    def add(self, *exports: Export) -> None:
        assert self.feed is not None
        self.feed = replace(self.feed, exports=(*self.feed.exports, *exports))


def export_of(reference: Reference, table: str, group: str = "g1", prefix: str = "") -> Export:
    """The export that CREATE TABLE .. FROM SOURCE makes of a whole reference."""
    columns = []
    for column in reference.columns:
        as_text = column.native is None
        columns.append(
            ExportColumn(
                column.name,
                TEXT if as_text else column.native or TEXT,
                column.nullable,
                column.name,
                column.position,
                column.type_oid,
                column.type_modifier,
                as_text,
            )
        )
    return Export(
        table,
        f"{prefix}-{table}",
        reference.namespace,
        reference.name,
        reference.identity,
        tuple(columns),
        reference.key,
        group,
    )


def exports_of(target: PostgresTarget, publication: str, group: str = "g1") -> list[Export]:
    references = list_references(target, publication)
    return [export_of(one, f"u_{one.name}", group, target.database) for one in references]


def wait_for(condition: Callable[[], bool], seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.05)
