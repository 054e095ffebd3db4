"""Raw rows of materialized views: what they are, what they were, how far they are."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import F

from catalog.models.views import Comment, ViewDetails, ViewProgress, ViewVersion

Rows = Iterable[tuple[Any, ...]]

MAINTAINED = (
    "id text, target_id text, cluster text, sealed boolean, options text, guard text, key text[]"
)
VERSIONS = (
    "id text, number bigint, shard text, since bigint, until bigint, create_sql text, event text,"
    ' replacement_id text, replacement_name text, "user" text, made_at timestamptz,'
    " expires_at timestamptz"
)
COMMENTS = "id text, oid bigint, type text, sub_id bigint, comment text"
STATES = (
    "id text, name text, target_id text, status text, error text, detail text, hint text,"
    " changed_at timestamptz, hydrated boolean, readable_from bigint, complete_through bigint,"
    " row_count bigint, size bigint, percent bigint, rate bigint, how text, reason text,"
    " rows_added bigint, rows_removed bigint, rows_changed bigint, staged_bytes bigint,"
    " as_of bigint"
)


def maintained(region: int) -> Rows:
    """Materialized views and replacements."""
    found = ViewDetails.objects.filter(item__region_id=region).values_list(
        "item__gid", "target__gid", "cluster", "sealed", "options", "guard", "key"
    )
    return [
        (*row[:4], json.dumps(row[4]), json.dumps(row[5]) if row[5] else None, row[6])
        for row in found
    ]


def versions(region: int) -> Rows:
    """Every definition that a view has or had."""
    return ViewVersion.objects.filter(item__region_id=region).values_list(
        "item__gid",
        "number",
        "shard",
        "since",
        "until",
        "create_sql",
        "event",
        "replacement",
        "replacement_name",
        "user",
        "made_at",
        "expires_at",
    )


def comments(region: int) -> Rows:
    """Comments on items (no sub id) and on their columns."""
    found = Comment.objects.filter(item__region_id=region).order_by("item_id", "column")
    fields = ("item__gid", "item__oid", "item__kind", "column", "text")
    return [
        (gid, oid, kind.replace(" ", "-"), column or None, text)
        for gid, oid, kind, column, text in found.values_list(*fields)
    ]


_STATE = (
    "item__gid",
    "item__name",
    "item__view__target__gid",
    "status",
    "error",
    "detail",
    "hint",
    "changed_at",
    "hydrated",
    "readable_from",
    "complete_through",
    "rows",
    "bytes",
    "percent",
    "rate",
    "how",
    "reason",
    "staged_added",
    "staged_removed",
    "staged_changed",
    "staged_bytes",
    "staged_as_of",
)
_RATE = _STATE.index("rate")


def states(region: int) -> Rows:
    """How far the data is that each view has now."""
    found = ViewProgress.objects.filter(item__region_id=region, shard=F("item__shard"))
    return [
        (*row[:_RATE], round(row[_RATE]), *row[_RATE + 1 :]) for row in found.values_list(*_STATE)
    ]
