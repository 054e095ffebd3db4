"""Statements to text: the only place that writes our SQL.

`render` gives the canonical text of one line, which the catalog keeps; `render_pretty` the lines
that the console shows, copies and executes. Both read back as the same node.
"""

from __future__ import annotations

from catalog.sql.clauses.dispatch import clauses
from catalog.sql.clauses.style import Style
from catalog.sql.layout import lines, one_line
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.statement import Statement
from catalog.sql.strings import identifier, literal

__all__ = ["identifier", "literal", "qualified", "render", "render_pretty"]


def render(statement: Statement, *, redacted: bool = False) -> str:
    """The canonical text, without a semicolon; secrets' values hidden when `redacted`."""
    return one_line(clauses(statement, Style(redacted=redacted)))


def render_pretty(statement: Statement, *, redacted: bool = False) -> str:
    """The same statement over several lines, closed by a semicolon."""
    return lines(clauses(statement, Style(pretty=True, redacted=redacted))) + ";"


def qualified(name: Name | tuple[str, ...]) -> str:
    """A name with its parts quoted where needed."""
    parts = name.parts if isinstance(name, Name) else name
    return ".".join(identifier(part) for part in parts)
