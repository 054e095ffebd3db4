"""Write requests or run the webhooks' feed in this process: `python -m .. JSON`."""

from __future__ import annotations

import json
import sys
import threading
import time

from ingest import engine
from ingest.contract.commands import Export, ExportColumn, Feed, Webhooks
from ingest.contract.inbox import Accepted
from ingest.contract.plane import Plane
from ingest.contract.types import TEXT
from ingest.feeds import failpoint
from ingest.feeds.webhooks.inbox import Drain
from tests.ingest.feeds.host import MemoryHost

REFERENCE = 20_001


def export_of(shard: str) -> Export:
    column = ExportColumn(
        "body",
        TEXT,
        nullable=False,
        upstream_name="body",
        upstream_position=1,
        upstream_oid=25,
        upstream_modifier=-1,
    )
    return Export(shard, shard, "webhook", "hook", REFERENCE, (column,), (), "")


def request(name: str) -> Accepted:
    return Accepted(REFERENCE, ((name,),))


def write(plane: Plane, feed: str, writer: str) -> None:
    """Requests one after the other for ever; each is told of once it is kept."""
    inbox = engine.open_inbox(plane, feed, writer)
    for number in range(10**9):
        inbox.write([request(f"{writer}-{number}")])
        sys.stdout.write(f"{writer}-{number}\n")
        sys.stdout.flush()
        time.sleep(0.01)


def drain(plane: Plane, feed: Feed) -> None:
    """Run the feed until its inbox is empty."""
    host = MemoryHost(feed)
    running = threading.Thread(target=engine.run_feed, args=(plane, host))
    running.start()
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and not _drained(plane, feed.id, host):
            time.sleep(0.1)
    finally:
        host.feed = None
        running.join()


def _drained(plane: Plane, feed: str, host: MemoryHost) -> bool:
    running = all(report.status == "running" for report in host.exports.values())
    return bool(host.exports) and running and not Drain(plane, feed).waiting({}, 1)


def main() -> None:
    arguments = json.loads(sys.argv[1])
    plane = Plane(*arguments["plane"])
    failpoint.arm(*arguments["point"])
    if "writer" in arguments:
        write(plane, arguments["feed"], arguments["writer"])
    export = export_of(arguments["shard"])
    feed = Feed(arguments["feed"], arguments["epoch"], Webhooks(), exports=(export,))
    drain(plane, feed)


if __name__ == "__main__":
    main()
