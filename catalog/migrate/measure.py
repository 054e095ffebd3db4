"""What is known of the data of a region's items, for plans."""

from __future__ import annotations

from catalog.migrate.plan import Measured
from catalog.models import ExportProgress


def measured(region: str) -> dict[str, Measured]:
    """Bytes and rows of what upstream feeds, and whether it can be read, by item id; one query."""
    rows = ExportProgress.objects.filter(item__region__name=region)
    return {
        gid: Measured(size, known, readable > 0 or status in {"running", "failed"})
        for gid, size, known, readable, status in rows.values_list(
            "item__gid", "bytes_staged", "rows_known", "readable_from", "status"
        )
    }
