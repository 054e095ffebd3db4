"""How sources, subsources, tables and webhooks are: raw rows, one per item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from catalog.models.feeds import ExportProgress, FeedProgress
from catalog.models.items import Item
from catalog.models.sources import SourceDetails

COLUMNS = (
    "id text, name text, type text, status text, error text, detail text, hint text,"
    " changed_at timestamptz, messages bigint, bytes bigint, upstream bigint, upto bigint,"
    " updates_staged bigint, updates_committed bigint, rows_known bigint, rows_staged bigint,"
    " readable_from bigint"
)
_STATE = ("status", "error", "detail", "hint", "changed_at")
_NOTHING = ("created", "", "", "", None, 0, 0, 0, 0, 0)


def subsources(region: int) -> list[tuple[str, str]]:
    """Ids of the sources that are part of another one (the older form), and what part."""
    items = Item.objects.filter(region_id=region, kind="source", source__isnull=True)
    found = items.values_list("gid", "table__item_id")
    return [(gid, "progress" if rows is None else "subsource") for gid, rows in found]


def states(region: int) -> Iterable[tuple[Any, ...]]:
    """A source is as well as its feed; what has rows also tells of them."""
    feeds = {
        row[0]: row[1:]
        for row in FeedProgress.objects.filter(feed__region_id=region).values_list(
            "feed_id", *_STATE, "messages", "bytes", "upstream", "upto", "complete_through"
        )
    }
    exports = _exports(region)
    sources = SourceDetails.objects.filter(item__region_id=region).values_list(
        "item__gid", "item__name", "type", "feed_id", "item__kind"
    )
    parts = dict(subsources(region))
    for gid, name, type_, feed, kind in sources:
        state = feeds.get(feed, _NOTHING)
        own = exports.pop(gid, None)
        if own is None:
            yield (gid, name, type_, *state[:9], 0, 0, -1, 0, state[9])
            continue
        _, *status, _, updates, known, staged, readable = own
        shown = "table" if kind == "table" else type_
        counts = (updates, updates, known, staged, readable)
        yield (gid, name, shown, *status, *state[5:9], *counts)
    for gid, (name, *status, size, updates, known, staged, readable) in exports.items():
        counts = (updates, updates, known, staged, readable)
        yield (gid, name, parts.get(gid, "table"), *status, 0, size, None, None, *counts)


def _exports(region: int) -> dict[str, tuple[Any, ...]]:
    found = ExportProgress.objects.filter(item__region_id=region).order_by("pk")
    rows = found.values_list(
        "item__gid",
        "item__name",
        *_STATE,
        "bytes_staged",
        "updates_committed",
        "rows_known",
        "rows_staged",
        "readable_from",
    )
    return {row[0]: row[1:] for row in rows}
