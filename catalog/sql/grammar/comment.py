"""COMMENT ON."""

from __future__ import annotations

from catalog.sql.cursor import MAX_NAME_PARTS, Cursor
from catalog.sql.grammar.item import item_kind
from catalog.sql.nodes.comment import CommentOn
from catalog.sql.nodes.names import Name

_OTHERS = ("SCHEMA", "DATABASE", "CLUSTER", "ROLE", "INDEX", "SINK", "TYPE", "FUNCTION")


def comment_on(cursor: Cursor) -> CommentOn:
    """After `COMMENT ON`."""
    for other in _OTHERS:
        if cursor.peek(other):
            cursor.not_supported(f"COMMENT ON {other} statements are not supported yet")
    if cursor.accept("COLUMN"):
        name, column = _column(cursor)
        return CommentOn(None, name, _text(cursor), column)
    kind, _ = item_kind(cursor, "COLUMN")
    name = cursor.name()
    return CommentOn(kind, name, _text(cursor))


def _column(cursor: Cursor) -> tuple[Name, str]:
    """A relation's name and one of its columns, joined by a dot."""
    at, first = cursor.at(), cursor.token
    parts = [cursor.identifier()]
    while cursor.accept("."):
        parts.append(cursor.identifier())
    if not 1 < len(parts) <= MAX_NAME_PARTS + 1:
        text = ".".join(parts)
        message = f"column name did not have between 2 and 4 components: {text}"
        cursor.fail(message, first.start)
    return Name(tuple(parts[:-1]), at), parts[-1]


def _text(cursor: Cursor) -> str | None:
    cursor.expect("IS")
    return None if cursor.accept("NULL") else cursor.string()
