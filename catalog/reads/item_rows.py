"""Items as rows."""

from __future__ import annotations

from catalog.models import Item
from catalog.reads.rows import ItemRow


def item_row(item: Item) -> ItemRow:
    """One item; its schema with the database, and its owner, should be selected with it."""
    return ItemRow(
        id=item.gid,
        kind=item.kind,
        database=item.schema.database.name,
        schema=item.schema.name,
        name=item.name,
        owner=item.owner.name,
        created_at=item.created_at,
        create_sql=item.create_sql,
        redacted_sql=item.create_sql,
    )
