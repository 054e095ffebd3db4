"""`manage.py feed ID`: one feed, from its upstream into its log, until told to stop."""

from __future__ import annotations

import logging
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from catalog import leases
from catalog.control.controller import Host
from catalog.planes import plane_of
from console import fail_point
from console.keeper import GIVEN_UP
from ingest import engine
from ingest.contract.reports import FeedReport
from ingest.errors import HeadraceError, Terminal

_log = logging.getLogger(__name__)
_SWITCH_SECONDS = 0.0005
"""Threads that copy a table's rows let the one that follows the stream have its turn sooner."""


class Command(BaseCommand):
    """Runs one feed; started by `manage.py feeds`, or by hand to look at one alone."""

    help = "Run one feed."

    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The feed's id, and the lease that its starter holds."""
        parser.add_argument("feed")
        parser.add_argument("--owner", default="")
        parser.add_argument("--epoch", type=int, default=0)
        parser.add_argument("--region", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until the catalog or a signal says stop; exit 1 to be started again."""
        region = options["region"] or settings.HEADRACE_REGION
        feed, owner, epoch = options["feed"], options["owner"], options["epoch"]
        if not owner:
            owner = leases.owner_name("alone")
            epoch = leases.acquire_feed(region, feed, owner) or 0
        host = Host(region, feed, owner, epoch)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: host.stop())
        sys.setswitchinterval(_SWITCH_SECONDS)
        fail_point.arm("feed")
        sys.exit(_run(host, region, feed))


def _run(host: Host, region: str, feed: str) -> int:
    try:
        engine.run_feed(plane_of(region), host)
    except HeadraceError as error:
        terminal = isinstance(error, Terminal)
        _log.warning("feed %s: %s (%s)", feed, error.message, error.detail or "")
        report = FeedReport(
            feed,
            "failed" if terminal else "stalled",
            error=error.message,
            detail=error.detail or "",
            hint=error.hint or "",
        )
        host.report((report,))
        return GIVEN_UP if terminal else 1
    return 0
