"""PostgreSQL as an upstream: description, replication, snapshots."""

from __future__ import annotations

from ingest.feeds.postgres.checks import check_connection, check_publication
from ingest.feeds.postgres.describe import list_references
from ingest.feeds.postgres.loop import drop_feed
from ingest.feeds.postgres.loop import run as run_feed
from ingest.feeds.postgres.publications import list_publications

__all__ = [
    "check_connection",
    "check_publication",
    "drop_feed",
    "list_publications",
    "list_references",
    "run_feed",
]
