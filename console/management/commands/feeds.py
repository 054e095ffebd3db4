"""`manage.py feeds`: keeps one process running per feed of every region, and nothing else."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from console.keeper import Keepers


class Command(BaseCommand):
    """Watches which feeds should run; holds their leases; starts, restarts and stops them."""

    help = "Keep one process running for every feed."

    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        Keepers().run(stop)
