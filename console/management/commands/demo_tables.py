"""`manage.py demo_tables`: the demo's user, sources and tables; ends when the tables are live."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from console.demo.tables import make
from ingest.errors import HeadraceError


class Command(BaseCommand):
    """Does without a click what the demo's wizard does with three."""

    help = "Make the demo's tables, wait until they are live, print how to sign in."
    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Print `ready URL user=EMAIL password=APP_PASSWORD`, alone on a line."""
        try:
            login = make(self.stdout.write)
        except HeadraceError as error:
            raise CommandError(f"{error.message}. {error.hint or ''}".strip()) from error
        url = f"http://{settings.HEADRACE_HOST}:{settings.HEADRACE_PORT}"
        self.stdout.write(f"ready {url} user={login.email} password={login.password}")
