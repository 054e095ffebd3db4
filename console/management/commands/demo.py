"""`manage.py demo`: the demo's PostgreSQL and its writer; the supervisor runs it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from console.demo import request
from console.demo.server import serve


class Command(BaseCommand):
    """Keeps a small shop in a real PostgreSQL, and writes to it."""

    help = "Run the demo's PostgreSQL with its shop and its writer."

    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until Ctrl-C."""
        request()
        serve()
