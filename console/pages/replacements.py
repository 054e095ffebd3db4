"""A replacement's page: what would change, row by row, and applying or discarding it."""

from __future__ import annotations

import time

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.reads import ViewRow
from catalog.reads import views as maintained
from catalog.results import Rows
from catalog.sql import render as render_statement
from catalog.sql.nodes.item import Drop
from catalog.sql.nodes.replacement import ApplyReplacement, SetGuard, ShowChanges
from console.fragments import impact, staged
from console.fragments import maintained as live
from console.fragments.changes import SHOWS, changes
from console.fragments.compare import compare
from console.fragments.definition import query_of, whole
from console.fragments.guarding import typed
from console.fragments.owners import owner_only
from console.fragments.schema import schema
from console.pages.items import name_of
from console.pages.request import rows_of, run
from console.pages.views import events, found
from console.visitor import signed_in, user_of
from ingest.errors import HeadraceError

LIMITS = (200, 1000, 5000)
_SHELL_ROWS = 1000


def pair(item_id: str) -> tuple[ViewRow, ViewRow]:
    """The replacement and its target. Raises Http404."""
    row = maintained.view(item_id)
    target = maintained.view(row.target.id) if row is not None and row.target else None
    if row is None or target is None:
        raise Http404
    return row, target


@signed_in
def replacement_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One replacement; one that was applied leads to its view."""
    row = maintained.view(item_id)
    if row is not None and row.target is None:
        return redirect(f"/views/{item_id}")
    if row is None:
        return _gone(request, item_id)
    return _page(request, item_id, None)


def _gone(request: HttpRequest, item_id: str) -> HttpResponse:
    """What was applied or discarded is a part of its view's history."""
    for view in maintained.views():
        if any(one.replacement == item_id for one in maintained.versions(view.item.id)):
            messages.info(request, "This replacement was applied")
            return redirect(f"/views/{view.item.id}?tab=versions")
    raise Http404


def _page(
    request: HttpRequest,
    item_id: str,
    error: HeadraceError | None,
    more: dict[str, object] | None = None,
) -> HttpResponse:
    row, target = pair(item_id)
    show = request.GET.get("show", "all")
    context: dict[str, object] = {
        "view": row,
        "target": target,
        "page": live.replacement({"id": item_id}),
        "ready": row.hydrated and target.hydrated,
        "shows": SHOWS,
        "show": show if show in dict(SHOWS) else "all",
        "comparison": compare(query_of(target.item.create_sql), query_of(row.item.create_sql)),
        "definition": whole(row.item.create_sql),
        "schema": schema(target.columns, row.columns),
        "lines": impact.lines(target),
        "guard": staged.guard_fields(row.guard),
        "apply_sql": f"{render_statement(_apply(row, target))};",
        "discard_sql": f"{render_statement(_discard(row))};",
        "changes_sql": f"{render_statement(ShowChanges(name_of(row.item), _SHELL_ROWS))};",
        "history": reads.status_history(item_id),
        "events": events(item_id),
        "error": error,
        **(more or {}),
    }
    return render(request, "replacements/page.html", context)


def _apply(row: ViewRow, target: ViewRow) -> ApplyReplacement:
    return ApplyReplacement(name_of(target.item), name_of(row.item))


def _discard(row: ViewRow) -> Drop:
    return Drop("materialized view", (name_of(row.item),), replacement=True)


@signed_in
def replacement_rows(request: HttpRequest, item_id: str) -> HttpResponse:
    """The rows that applying it would change, up to a limit."""
    row, target = pair(item_id)
    asked = request.GET.get("limit", "")
    limit = next((one for one in LIMITS if asked == str(one)), LIMITS[0])
    show = request.GET.get("show", "all")
    began = time.perf_counter()
    try:
        rows = rows_of(run(request, ShowChanges(name_of(row.item), limit)))
    except HeadraceError as error:
        return render(request, "replacements/rows.html", {"error": error, "view": row})
    context = {
        "view": row,
        "staged": changes(rows, target, show, limit) if isinstance(rows, Rows) else None,
        "show": show,
        "more_limit": next((one for one in LIMITS if one > limit), 0),
        "milliseconds": round((time.perf_counter() - began) * 1000),
    }
    return render(request, "replacements/rows.html", context)


@signed_in
def replacement_impact(request: HttpRequest, item_id: str) -> HttpResponse:
    """How many rows of each dependent would change; asked for, as it computes them all."""
    row, target = pair(item_id)
    context: dict[str, object] = {"view": row, "target": target, "ready": True}
    began = time.perf_counter()
    try:
        region = owner_only(user_of(request), row.item)
        context |= {"lines": impact.counted(region, target, row), "counted": True}
    except HeadraceError as error:
        context |= {"lines": impact.lines(target), "error": error}
    context["milliseconds"] = round((time.perf_counter() - began) * 1000)
    return render(request, "replacements/impact.html", context)


@require_POST
@signed_in
def guard(request: HttpRequest, item_id: str) -> HttpResponse:
    """When it applies itself, from now on."""
    row, _ = pair(item_id)
    rails = typed(request.POST.dict())
    if rails.wrong:
        return _page(request, item_id, None, {"guard": rails.fields, "wrong": rails.wrong})
    try:
        run(request, SetGuard(name_of(row.item), rails.options))
    except HeadraceError as error:
        return _page(request, item_id, error, {"guard": rails.fields})
    messages.success(request, f"{row.item.name} is applied {staged.rule(found(item_id).guard)}")
    return redirect(f"/replacements/{item_id}")


@require_POST
@signed_in
def apply(request: HttpRequest, item_id: str) -> HttpResponse:
    """Put it in the place of its target."""
    row, target = pair(item_id)
    try:
        run(request, _apply(row, target))
    except HeadraceError as error:
        return _page(request, item_id, error)
    messages.success(request, f"{target.item.name} has the definition of {row.item.name} now")
    return redirect(f"/views/{target.item.id}?tab=versions")


@require_POST
@signed_in
def discard(request: HttpRequest, item_id: str) -> HttpResponse:
    """Drop it; its target stays as it is."""
    row, target = pair(item_id)
    try:
        run(request, _discard(row))
    except HeadraceError as error:
        return _page(request, item_id, error)
    messages.success(request, f"Discarded replacement {row.item.name}")
    return redirect(f"/views/{target.item.id}?tab=replacements")
