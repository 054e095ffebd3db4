"""`manage.py views`: keeps the region's materialized views, and nothing else."""

from __future__ import annotations

import signal
import threading
import uuid
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from catalog import leases
from catalog.maintenance.maintainer import Maintainer
from console import execute, fail_point


class Command(BaseCommand):
    """Steps views from time to time while it holds the region's lease; waits for it otherwise."""

    help = "Keep the materialized views."

    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        fail_point.arm("views")
        owner = leases.owner_name(uuid.uuid4().hex[:8])
        Maintainer(settings.HEADRACE_REGION, owner, execute.run_by_itself).run(stop)
