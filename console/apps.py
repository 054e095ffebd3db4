"""The console as a Django application."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig

from catalog import signals


class ConsoleConfig(AppConfig):
    """Every way in: pages, REST, websockets, psql, worker and commands."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Tell pages and the worker of changes.

        Broker and channel layer are imported with the first change: most commands have none.
        """
        signals.committed.connect(_committed, dispatch_uid="console")
        signals.reported.connect(_reported, dispatch_uid="console")


def _committed(**change: Any) -> None:
    from console.broadcast import broadcaster, wake

    wake()
    broadcaster.committed(**change)


def _reported(**change: Any) -> None:
    from console.broadcast import broadcaster

    broadcaster.reported(**change)
