"""Blue-green of an upstream schema change, as one guided flow."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.errors import UnknownItem
from catalog.here import region_here
from catalog.migrate.schema_change import store
from catalog.migrate.schema_change.script import script as script_of
from catalog.migrate.schema_change.store import ChangeRow
from console import execute
from console.fragments import switching
from console.fragments.attachment import attachment
from console.visitor import owners_only, user_of
from ingest.errors import HeadraceError


@owners_only
def change_list(request: HttpRequest) -> HttpResponse:
    """Tables that differ from upstream, and the switches that were begun."""
    return _list(request, None)


def _list(request: HttpRequest, error: HeadraceError | None) -> HttpResponse:
    rows = [(row, switching.LOOKS[row.state]) for row in store.changes(region_here())]
    open_ = {row.table for row, _ in rows if row.state == "open"}
    drifted = [table for table in reads.tables() if _differs(table) and table.item.id not in open_]
    context = {"rows": rows, "drifted": drifted, "error": error}
    return render(request, "switching/list.html", context)


def _differs(table: reads.TableRow) -> bool:
    failed = table.status.status == "failed"
    return bool(table.drift or failed) and table.source is not None and table.item.kind == "table"


@require_POST
@owners_only
def begin(request: HttpRequest) -> HttpResponse:
    """Begin a table's switch, or go on with the one that is open."""
    try:
        made = store.begin(region_here(), request.POST.get("table", ""), user_of(request).email)
    except HeadraceError as error:
        return _list(request, error)
    return redirect(f"/schema-changes/{made.id}")


@owners_only
def change_page(request: HttpRequest, gid: str) -> HttpResponse:
    """One switch with its steps, as the catalog shows them now."""
    return _page(request, gid, None)


def _row(gid: str) -> ChangeRow:
    try:
        return store.one(region_here(), gid)
    except UnknownItem as error:
        raise Http404 from error


def _page(request: HttpRequest, gid: str, error: HeadraceError | None) -> HttpResponse:
    row = _row(gid)
    shown = error if error is not None and error.message != row.error else None
    context = {"row": row, "page": switching.pieces(row), "error": shown}
    return render(request, "switching/page.html", context)


@require_POST
@owners_only
def step(request: HttpRequest, gid: str) -> HttpResponse:
    """Do the next step, in other words where they were typed."""
    row = _row(gid)
    user = user_of(request)
    kind = row.current.kind if row.current else ""
    sql = request.POST.get("sql", "").strip().rstrip(";") if kind in switching.EDITED else ""
    try:
        store.advance(region_here(), gid, user.email, execute.runner(user, region_here()), sql)
    except HeadraceError as error:
        return _page(request, gid, error)
    messages.success(request, f"Done: {kind}")
    return redirect(f"/schema-changes/{gid}")


@require_POST
@owners_only
def give_up(request: HttpRequest, gid: str) -> HttpResponse:
    """Take back what was applied, drop what was made."""
    row, user = _row(gid), user_of(request)
    try:
        store.give_up(region_here(), gid, user.email, execute.runner(user, region_here()))
    except HeadraceError as error:
        return _page(request, gid, error)
    messages.success(request, f"Given up; {row.name} is as it was")
    return redirect(f"/schema-changes/{gid}")


@owners_only
def script(request: HttpRequest, gid: str) -> HttpResponse:
    """All of it as one SQL text."""
    row = _row(gid)
    return attachment(script_of(row.steps, row.back), f"{gid}.sql")
