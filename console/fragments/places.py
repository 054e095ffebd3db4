"""Where an item's page is, and the icon of its kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catalog.reads import ItemRow

ICONS = {
    "secret": "key-round",
    "connection": "plug",
    "source": "log-in",
    "table": "table-2",
    "view": "view",
    "materialized view": "layers",
}
_PLACES = {
    "connection": "connections",
    "source": "sources",
    "table": "tables",
    "materialized view": "views",
}


@dataclass(frozen=True)
class Entry:
    """An item with the path of its page."""

    item: ItemRow
    path: str
    icon: str


def path_of(item: ItemRow) -> str:
    """The item's own page."""
    return (
        "/secrets" if item.kind == "secret" else f"/{_PLACES.get(item.kind, 'objects')}/{item.id}"
    )


def entry(item: ItemRow) -> Entry:
    """The item as lists show it."""
    return Entry(item, path_of(item), ICONS.get(item.kind, "box"))


def entries(items: Iterable[ItemRow]) -> tuple[Entry, ...]:
    """Items as lists show them."""
    return tuple(map(entry, items))
