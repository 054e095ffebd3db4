"""Where each region's data is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db.models.signals import post_delete, post_save

from catalog.models import RegionPlace
from ingest.contract.plane import Plane

_asked_for: dict[str, str] = {}
"""The warehouse that each region was made with, empty for a folder of the installation's; it
never changes."""


def plane_of(region: str) -> Plane:
    """A region's Spark and warehouse: its ids are its own, so its collections are too.

    The installation's own region (or an empty name) has the warehouse itself, every other one a
    folder in it, unless it was made with a warehouse elsewhere. Asks the database once a region.
    """
    plane: Plane = settings.HEADRACE_PLANE
    if region in {"", settings.HEADRACE_REGION}:
        return plane
    if region not in _asked_for:
        rows = RegionPlace.objects.filter(region__name=region)
        kept = rows.values_list("warehouse", flat=True).first()
        if kept is None:
            return folder_of(region, plane)
        _asked_for[region] = kept
    warehouse = _asked_for[region]
    return replace(plane, warehouse=warehouse) if warehouse else folder_of(region, plane)


def folder_of(region: str, plane: Plane) -> Plane:
    """The plane whose warehouse is the region's folder in that plane's."""
    return replace(plane, warehouse="/".join((plane.warehouse.rstrip("/"), "regions", region)))


def _forget(**_: Any) -> None:
    _asked_for.clear()


post_save.connect(_forget, RegionPlace, dispatch_uid="planes")
post_delete.connect(_forget, RegionPlace, dispatch_uid="planes gone")
