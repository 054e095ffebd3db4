"""CREATE SECRET, ALTER SECRET."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.nodes.secret import AlterSecret, CreateSecret


def create_secret(cursor: Cursor) -> CreateSecret:
    """After `CREATE SECRET`."""
    if_not_exists, name = cursor.if_not_exists(), cursor.name()
    cursor.expect("AS")
    return CreateSecret(name, cursor.string(), if_not_exists)


def alter_secret(cursor: Cursor) -> AlterSecret:
    """After `ALTER SECRET`, where no RENAME follows."""
    if_exists, name = cursor.if_exists(), cursor.name()
    cursor.expect("AS")
    return AlterSecret(name, cursor.string(), if_exists)
