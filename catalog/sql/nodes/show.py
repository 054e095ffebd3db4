"""SHOW and SHOW CREATE."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.sql.nodes.names import ItemKind, Name


@dataclass(frozen=True)
class ShowObjects:
    """`SHOW {plural} [FROM schema] [ON source] [LIKE 'pattern' | WHERE expr]`.

    `kind` is the singular: `table` for SHOW TABLES, `column` for SHOW COLUMNS FROM x, `object`.
    `of` is the relation of SHOW COLUMNS and the target of SHOW REPLACEMENTS FOR. `where` is
    canonical SQL text.
    """

    kind: str
    in_schema: Name | None = None
    on_source: Name | None = None
    of: Name | None = None
    like: str | None = None
    where: str = ""


@dataclass(frozen=True)
class ShowCreate:
    """`SHOW [REDACTED] CREATE kind name`; `replacement`: SHOW CREATE REPLACEMENT."""

    kind: ItemKind
    name: Name
    redacted: bool = False
    replacement: bool = False


@dataclass(frozen=True)
class ShowVariable:
    """`SHOW name` | `SHOW ALL` (name is empty)."""

    name: str
