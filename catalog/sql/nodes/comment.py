"""COMMENT ON."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.names import ItemKind, Name


@dataclass(frozen=True)
class CommentOn:
    """`COMMENT ON kind name IS 'text' | NULL`; with `column`, `COMMENT ON COLUMN name.column`.

    `kind` is None for a column.
    """

    kind: ItemKind | None
    name: Name
    text: str | None
    column: str = ""
