"""Who may do what no statement does: an item's owner, or a superuser."""

from __future__ import annotations

from typing import Any

from catalog.errors import PermissionDenied
from catalog.here import region_here
from catalog.reads import ItemRow


def owner_only(user: Any, item: ItemRow) -> str:
    """The region, for a user who may act on the item. Raises PermissionDenied."""
    if user.is_superuser or item.owner == user.email:
        return region_here()
    message = f"must be owner of {item.kind} {item.name}"
    raise PermissionDenied(message)
