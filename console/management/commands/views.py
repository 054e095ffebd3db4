"""`manage.py views`: keeps every region's materialized views, and nothing else."""

from __future__ import annotations

import logging
import signal
import threading
import uuid
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error as DatabaseError
from django.db import close_old_connections

from catalog import leases
from catalog.maintenance.maintainer import Maintainer
from catalog.regions import region_names
from console import execute, fail_point

WATCH = 1.0
"""Seconds between two looks at which regions there are."""
_log = logging.getLogger(__name__)


class Command(BaseCommand):
    """Steps views from time to time while it holds their region's lease, or waits for it."""

    help = "Keep the materialized views."

    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        fail_point.arm("views")
        keep_all(stop)


def keep_all(stop: threading.Event) -> None:
    """A maintainer for every region, each in a thread of its own, new regions' too.

    Raises RuntimeError when one has ended by itself: the process is then to be started again.
    """
    threads: dict[str, threading.Thread] = {}
    try:
        while not stop.is_set():
            for region in _known_regions():
                if region not in threads:
                    threads[region] = _keep(region, stop)
            ended = [region for region, thread in threads.items() if not thread.is_alive()]
            if ended and not stop.is_set():
                message = f"views of {ended[0]} are not kept any more"
                raise RuntimeError(message)
            stop.wait(WATCH)
    finally:
        stop.set()
        for thread in threads.values():
            thread.join()


def _keep(region: str, stop: threading.Event) -> threading.Thread:
    owner = leases.owner_name(uuid.uuid4().hex[:8])
    maintainer = Maintainer(region, owner, execute.run_by_itself)
    thread = threading.Thread(target=maintainer.run, args=(stop,), name=f"views of {region}")
    thread.start()
    return thread


def _known_regions() -> tuple[str, ...]:
    try:
        return region_names()
    except DatabaseError:
        _log.warning("the catalog cannot be asked for now", exc_info=True)
        return ()
    finally:
        close_old_connections()
