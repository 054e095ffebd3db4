"""The SQL shell: any text through the one door, one result per statement."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import chain, repeat

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.results import Notice, Result, Rows
from catalog.sql import parse
from catalog.sql.nodes.query import Select
from console import execute
from console.fragments.checks import checks_of_error
from console.fragments.grid import Grid, grid
from console.visitor import signed_in, user_of
from ingest.contract.upstream import Check
from ingest.errors import HeadraceError

SHOWN_ROWS = 1000
_COMPLETED_TABLES = 500


@dataclass(frozen=True)
class Shown:
    """One statement's result as the page draws it; `query` is a text that a view can keep."""

    tag: str = ""
    grid: Grid | None = None
    count: int = 0
    timestamp: int | None = None
    notices: tuple[Notice, ...] = ()
    error: HeadraceError | None = None
    excerpt: str = ""
    checks: tuple[Check, ...] = ()
    query: str = ""


@signed_in
def shell(request: HttpRequest) -> HttpResponse:
    """The editor; `?sql=` fills it."""
    tables = reads.tables()[:_COMPLETED_TABLES]
    schema = {table.item.name: [column.name for column in table.columns] for table in tables}
    context = {"sql": request.GET.get("sql", ""), "schema": json.dumps(schema)}
    return render(request, "shell/page.html", context)


@sensitive_post_parameters("sql")
@require_POST
@signed_in
def run(request: HttpRequest) -> HttpResponse:
    """Run the text and draw every statement's result, up to the first error."""
    text = request.POST.get("sql", "")
    began = time.perf_counter()
    try:
        outcomes = execute.run(user_of(request), text)
    except HeadraceError as error:
        outcomes = [error]
    queries = chain(_queries(text), repeat(""))
    context = {
        "results": [
            _shown(outcome, text, query) for outcome, query in zip(outcomes, queries, strict=False)
        ],
        "milliseconds": round((time.perf_counter() - began) * 1000),
    }
    return render(request, "shell/results.html", context)


def _queries(text: str) -> list[str]:
    """Of each statement its text, if it is a query that a view could keep; else nothing."""
    try:
        return [
            one.text.strip()
            if isinstance(one.statement, Select) and one.statement.as_of is None
            else ""
            for one in parse(text)
        ]
    except HeadraceError:
        return []


def _shown(outcome: Result | HeadraceError, text: str, query: str) -> Shown:
    if isinstance(outcome, HeadraceError):
        return Shown(
            error=outcome, excerpt=excerpt(text, outcome.position), checks=checks_of_error(outcome)
        )
    if isinstance(outcome, Rows):
        return Shown(
            outcome.tag,
            grid(outcome, SHOWN_ROWS),
            outcome.data.num_rows,
            outcome.timestamp,
            outcome.notices,
            query=query,
        )
    return Shown(outcome.tag, notices=outcome.notices)


def excerpt(text: str, position: int | None) -> str:
    """The line with the error and a caret beneath, as psql shows it; empty without a position."""
    if position is None or not 0 <= position <= len(text):
        return ""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    number = text.count("\n", 0, position) + 1
    label = f"LINE {number}: "
    return f"{label}{line}\n{' ' * (len(label) + position - start)}^"
