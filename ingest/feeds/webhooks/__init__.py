"""Webhooks: requests that processes leave in an inbox, and the one feed that logs them.

A process that takes requests appends them, a batch at a time, to numbered files of its own. The
feed logs every file once: the commit says up to which number of which process the log has them.
"""

from __future__ import annotations

from ingest.contract.commands import Webhooks
from ingest.contract.host import FeedHost
from ingest.contract.plane import Plane
from ingest.feeds.webhooks.inbox import DiskInbox
from ingest.feeds.webhooks.loop import Loop

__all__ = ["DiskInbox", "run"]


def run(plane: Plane, host: FeedHost) -> None:
    """Run the feed of webhooks until the host says stop; see `ingest.engine.run_feed`."""
    feed = host.desired()
    if feed is not None and isinstance(feed.target, Webhooks):
        Loop(plane, host, feed).run()
