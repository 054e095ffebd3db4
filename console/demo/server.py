"""The demo as a process: PostgreSQL below it, the writer inside it."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import psycopg
from django.conf import settings

from console.demo import demo_status, place, postgres, report, shop, writer


def serve() -> None:
    """Run until SIGTERM. Failures are told by `demo_status` and raised."""
    over = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        over.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    facts = demo_status()
    report("starting")
    log = settings.HEADRACE_HOME / "logs" / "demo-postgres.log"
    log.parent.mkdir(exist_ok=True)
    try:
        here = place.find(settings.HEADRACE_HOME)
        with postgres.running(here, facts.port, facts.password, log) as admin:
            shop_dsn = shop.ensure(admin, facts.password)
            report("running")
            writer.work(shop_dsn, over.wait)
    except (LookupError, RuntimeError, OSError, psycopg.Error) as error:
        report("failed", str(error).strip())
        raise
    report("starting")
