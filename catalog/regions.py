"""Which regions there are."""

from __future__ import annotations

from catalog.here import unknown_region
from catalog.models import Region


def region_names() -> tuple[str, ...]:
    """The account's regions, oldest first."""
    return tuple(Region.objects.order_by("pk").values_list("name", flat=True))


def region_named(name: str) -> str:
    """The region of that name, `aws/us-east-1` or `aws:us-east-1`; raises UnknownItem."""
    found = name.replace(":", "/", 1)
    if not Region.objects.filter(name=found).exists():
        raise unknown_region(name)
    return found
