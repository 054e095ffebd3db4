"""Who subscribes to what, now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from catalog.models.namespaces import Region
from catalog.roster import subscribed
from catalog.system.relation import declare

COLUMNS = (
    "id text, role text, title text, items text[], started_at timestamptz, as_of bigint,"
    " told_through bigint, lag bigint, told bigint, readers bigint, computed bigint,"
    " own_reads bigint"
)
"""The raw table's columns."""

RELATIONS = (
    declare(
        "mz_internal.mz_subscriptions",
        "id text not null, session_id text, cluster_id text not null,"
        " created_at timestamptz not null, referenced_object_ids text[] not null,"
        " role text not null, object text not null, as_of mz_timestamp not null,"
        " told_through mz_timestamp not null, lag bigint not null, rows_told uint8 not null,"
        " readers uint8 not null, computed uint8 not null, own_reads uint8 not null",
        "SELECT id, NULL, 'u1', started_at, items, role, title, as_of, told_through, lag, told,"
        " readers, computed, own_reads FROM raw.subscriptions",
        reads="subscriptions",
        comment="Streams of SUBSCRIBE that are open; readers of one object have its changes"
        " computed once, together.",
    ),
)


def rows(region: int) -> Iterable[tuple[Any, ...]]:
    """The raw rows, given a region's key."""
    name = Region.objects.values_list("name", flat=True).get(pk=region)
    return [
        (
            one.id,
            one.role,
            one.title,
            list(one.items),
            one.started_at,
            one.as_of,
            max(one.told_through, 0),
            one.lag,
            one.rows,
            one.readers,
            one.computed,
            one.own_reads,
        )
        for one in subscribed(name)
    ]
