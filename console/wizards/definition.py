"""What the editors of views and of replacements share: the live check and the first rows."""

from __future__ import annotations

import json
import time
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from catalog import reads
from catalog.reads import views as maintained
from console.fragments.grid import grid, headers_of
from console.visitor import user_of
from console.wizards.preview import PREVIEW_ROWS, Foreseen, first_rows
from ingest.errors import HeadraceError

_COMPLETED = 500


def known_columns() -> str:
    """Names that the editor completes, as JSON."""
    tables = reads.tables()[:_COMPLETED]
    views = maintained.views()[:_COMPLETED]
    named = [(row.item.name, row.columns) for row in tables]
    named += [(row.item.name, row.columns) for row in views]
    return json.dumps({name: [column.name for column in columns] for name, columns in named})


def check_page(request: HttpRequest, foreseen: Foreseen, more: dict[str, Any]) -> HttpResponse:
    """The part beside the editor that says what would be made."""
    relation = foreseen.relation
    context = {
        "foreseen": foreseen,
        "columns": headers_of(relation) if relation is not None else (),
        **more,
    }
    return render(request, "wizards/view_check.html", context)


def rows_page(request: HttpRequest) -> HttpResponse:
    """The first rows of the query that is typed."""
    began = time.perf_counter()
    try:
        rows = first_rows(user_of(request), request.POST.get("sql", ""))
    except HeadraceError as error:
        return render(request, "wizards/view_rows.html", {"error": error})
    context = {
        "grid": grid(rows, PREVIEW_ROWS),
        "milliseconds": round((time.perf_counter() - began) * 1000),
    }
    return render(request, "wizards/view_rows.html", context)
