"""A new materialized view: an editor with a preview, and one statement."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.errors import InvalidStatement
from catalog.reads import TableRow
from catalog.sql import render_pretty
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.query import Select
from catalog.sql.render import identifier
from console import execute
from console.visitor import signed_in, user_of
from console.wizards.definition import check_page, known_columns, rows_page
from console.wizards.preview import Build, Wrong, foresee, query_in, wrong
from console.wizards.statements import name_of
from ingest.errors import HeadraceError

_OFFERED = 12
EVERIES = (
    ("1 minute", "every minute"),
    ("5 minutes", "every 5 minutes"),
    ("1 hour", "every hour"),
    ("1 day", "every day"),
)


@dataclass(frozen=True)
class Begin:
    """A table that a query can begin with; `quoted` as SQL writes it."""

    name: str
    quoted: str


def _begin(row: TableRow) -> Begin:
    parts = name_of(row.item).parts
    return Begin(row.item.name, ".".join(identifier(part) for part in parts))


@signed_in
def new_view(request: HttpRequest) -> HttpResponse:
    """The editor; `?sql=` fills it. A POST makes the view."""
    if request.method == "POST":
        return _create(request)
    sql = request.GET.get("sql", "").strip().rstrip(";")
    return _page(request, {"sql": sql, "name": request.GET.get("name", "")})


def _page(request: HttpRequest, more: dict[str, object]) -> HttpResponse:
    context = {
        "schema": known_columns(),
        "tables": [_begin(row) for row in reads.tables()[:_OFFERED]],
        "every": "",
        "everies": EVERIES,
        "check_path": "/views/new/check",
        **more,
    }
    return render(request, "wizards/view.html", context)


def _build(request: HttpRequest) -> Build:
    """The statement that the form says."""
    name = request.POST.get("name", "").strip()
    every = request.POST.get("every", "").strip()
    refresh = (Refresh("every", every),) if every else ()

    def build(select: Select, text: str) -> CreateMaterializedView:
        if not name:
            raise InvalidStatement("give the view a name", sqlstate="42602")
        return CreateMaterializedView(
            Name((name,)),
            select.query,
            text=text.strip().rstrip(";"),
            refresh=refresh,
            body=select.body,
        )

    return build


@require_POST
@signed_in
def check(request: HttpRequest) -> HttpResponse:
    """What would be made of the text as it is now."""
    foreseen = foresee(user_of(request), request.POST.get("sql", ""), _build(request))
    return check_page(request, foreseen, {"rows_path": "/views/new/rows", "what": "view"})


@require_POST
@signed_in
def rows(request: HttpRequest) -> HttpResponse:
    """The first rows of the query as it is now."""
    return rows_page(request)


def _create(request: HttpRequest) -> HttpResponse:
    text, name = request.POST.get("sql", ""), request.POST.get("name", "").strip()
    try:
        statement = _build(request)(query_in(text), text)
        for outcome in execute.run(user_of(request), render_pretty(statement)):
            if isinstance(outcome, HeadraceError):
                raise outcome
    except HeadraceError as error:
        told: Wrong = wrong(error, text, in_text=False)
        every = request.POST.get("every", "")
        return _page(request, {"sql": text, "name": name, "every": every, "wrong": told})
    made = next(item for item in reversed(reads.items("materialized view")) if item.name == name)
    messages.success(request, f"Created materialized view {name}")
    return redirect(f"/views/{made.id}")
