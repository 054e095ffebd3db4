"""Run one feed in this process until it has reached a position: `python -m .. JSON`."""

from __future__ import annotations

import json
import sys
import threading

from ingest.contract.commands import Feed
from ingest.contract.plane import Plane
from ingest.contract.upstream import PostgresTarget, Secret
from ingest.feeds import failpoint
from ingest.feeds.postgres import run_feed
from tests.ingest.feeds.host import MemoryHost, exports_of, wait_for


def main() -> None:
    arguments = json.loads(sys.argv[1])
    host_name, port, database, user = arguments["target"]
    target = PostgresTarget(host_name, port, database, user, Secret(arguments["password"]))
    id_, epoch, publication, slot = arguments["feed"]
    host = MemoryHost(Feed(id_, epoch, target, publication, slot))
    exports = exports_of(target, publication)
    host.add(*exports)
    failpoint.arm(*arguments["point"])
    running = threading.Thread(target=run_feed, args=(Plane(*arguments["plane"]), host))
    running.start()
    try:
        wait_for(
            lambda: (
                host.last.upto >= arguments["wanted"]
                and len(host.exports) == len(exports)
                and all(report.status == "running" for report in host.exports.values())
            ),
            60,
        )
    finally:
        host.feed = None
        running.join()


if __name__ == "__main__":
    main()
