"""The console as a Django application."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Every way in: pages, REST, websockets, psql, worker and commands."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make Celery's `shared_task` find this application in every process."""
        import console.celery  # noqa: F401
        from console import worker
        from console.broadcast import broadcaster

        broadcaster.connect()
        worker.connect()
