"""`manage.py up`: the whole product under one supervisor."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from console.supervisor.supervise import up
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """Starts broker, Spark, web, worker, beat and feeds, and keeps them running."""

    help = "Run everything: broker, Spark, web, worker, beat and feeds."

    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until Ctrl-C."""
        try:
            up()
        except HeadraceError as error:
            raise CommandError(f"{error.message}. {error.hint or ''}".strip()) from error
