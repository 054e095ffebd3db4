"""The console as a Django application."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Every way in: pages, REST, websockets, psql, worker and commands."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell pages and the worker of changes; makes `shared_task` find the Celery app too."""
        from console.broadcast import broadcaster

        broadcaster.connect()
