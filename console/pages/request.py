"""How a page runs statements for the user who asks for it."""

from __future__ import annotations

from django.http import HttpRequest

from catalog.results import Result, Rows
from catalog.sql import render
from catalog.sql.nodes.statement import Statement
from console import execute
from console.visitor import user_of
from ingest.errors import HeadraceError


def run(request: HttpRequest, *statements: Statement) -> list[Result]:
    """Render the statements and run them as one text. Raises the first one's error."""
    text = "\n".join(f"{render(statement)};" for statement in statements)
    found: list[Result] = []
    for outcome in execute.run(user_of(request), text):
        if isinstance(outcome, HeadraceError):
            raise outcome
        found.append(outcome)
    return found


def rows_of(results: list[Result]) -> Rows | None:
    """The last result that has rows."""
    return next((result for result in reversed(results) if isinstance(result, Rows)), None)
