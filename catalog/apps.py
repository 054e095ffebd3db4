"""The catalog as a Django application."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate


class CatalogConfig(AppConfig):
    """Models live in `catalog.models`, one file per noun."""

    name = "catalog"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """A migrated database always has its region."""
        post_migrate.connect(_ensure_region, sender=self)


def _ensure_region(**_: Any) -> None:
    from catalog.bootstrap import ensure_region

    ensure_region(settings.HEADRACE_REGION)
