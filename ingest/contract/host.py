"""What a running feed asks of whoever started it."""

from __future__ import annotations

from typing import Protocol

from ingest.contract.commands import Feed
from ingest.contract.reports import ExportReport, FeedReport


class FeedHost(Protocol):
    """The catalog's side of a running feed. Every method may be called from any thread."""

    def desired(self) -> Feed | None:
        """The newest definition of the feed; None tells it to stop. Cheap: called several times a
        second. Also renews the lease; a lost lease is None."""

    def next_time(self, after: int) -> int:
        """A fresh mz_timestamp (ms) greater than `after`, from the region's oracle."""

    def report(self, reports: tuple[FeedReport | ExportReport, ...]) -> None:
        """Make reports visible, together, to readers in every process before returning."""
