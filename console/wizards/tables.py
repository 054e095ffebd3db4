"""Step 3: choose upstream tables; every change is saved and answered with what it changed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from catalog.sql import render_pretty
from catalog.sql.nodes.source import RefreshReferences
from console.visitor import signed_in
from console.wizards import choosing, picker, statements
from console.wizards import draft as drafting
from console.wizards.listing import Listed
from console.wizards.page import render_step
from console.wizards.picker import Picker
from ingest.errors import HeadraceError


def _open(request: HttpRequest, draft_id: uuid.UUID) -> Picker:
    return Picker(drafting.load(request, draft_id))


def _row(found: Picker, key: str) -> Listed:
    row = found.listing.by_key.get(key)
    if row is None:
        raise Http404
    return row


@require_GET
@signed_in
def tree(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """The tree alone, for the search box and the filters."""
    found = _open(request, draft_id)
    context = {**picker.side(found), **picker.rows(found, picker.asked(request.GET.dict()))}
    return render(request, "wizards/tree.html", context)


@require_GET
@signed_in
def schema(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """The rows of one schema, when it is opened."""
    found = _open(request, draft_id)
    view = picker.asked(request.GET.dict())
    space = request.GET.get("ns", "")
    rows = choosing.matching(found.listing, found.chosen, view)
    lines = [found.line(row) for row in rows if row.namespace == space]
    return render(request, "wizards/rows.html", {"lines": lines, "view": view})


@require_POST
@signed_in
def select(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Add or remove rows: by key, a whole schema, or everything that matches."""
    found = _open(request, draft_id)
    view = picker.asked(request.POST.dict())
    keys = [key for key in request.POST.get("ids", "").split(",") if key]
    if keys:
        rows = [found.listing.by_key[key] for key in keys if key in found.listing.by_key]
    else:
        wanted = request.POST.get("ns", "")
        matching = choosing.matching(found.listing, found.chosen, view)
        rows = [row for row in matching if not wanted or row.namespace == wanted]
    _change(found, rows, add=request.POST.get("op") == "add")
    context = {**picker.side(found), **picker.rows(found, view)}
    if keys:
        context |= _touched(found, view, rows)
    return render(request, "wizards/changed.html", context)


def _change(found: Picker, rows: Iterable[Listed], *, add: bool) -> None:
    if add:
        choosing.add(found.chosen, rows, found.taken())
    else:
        for row in rows:
            found.chosen.pop(row.key, None)
    _save(found)


def _save(found: Picker) -> None:
    found.draft.state.chosen = found.chosen
    found.draft.save()


def _touched(found: Picker, view: choosing.Asked, rows: Iterable[Listed]) -> dict[str, object]:
    """Only what changed: the rows and their schemas' heads."""
    changed = list(rows)
    names = {row.namespace for row in changed}
    whole = found.tree(view)
    heads = [space for space in whole.spaces if space.name in names]
    return {"changed": [found.line(row) for row in changed], "heads": heads, "tree": whole}


@signed_in
def columns(request: HttpRequest, draft_id: uuid.UUID, key: str) -> HttpResponse:
    """A row's columns; a POST decides how one is read."""
    found = _open(request, draft_id)
    row = _row(found, key)
    if request.method != "POST":
        return render(request, "wizards/columns.html", _columns(found, row))
    _decide(found, row, request.POST.get("col", ""), request.POST.get("mode", ""))
    view = picker.asked(request.POST.dict())
    context = {
        **picker.side(found),
        **picker.rows(found, view),
        **_touched(found, view, [row]),
        **_columns(found, row),
        "with_columns": True,
    }
    return render(request, "wizards/changed.html", context)


def _columns(found: Picker, row: Listed) -> dict[str, object]:
    base = f"/sources/new/{found.draft.id}"
    return {"line": found.line(row), "columns": found.columns(row), "base": base}


def _decide(found: Picker, row: Listed, column: str, mode: str) -> None:
    if row.key not in found.chosen:
        choosing.add(found.chosen, [row], found.taken())
    choice = found.chosen.get(row.key)
    if choice is None or column not in {one.name for one in row.row.columns}:
        return
    choice.text = [name for name in choice.text if name != column]
    choice.exclude = [name for name in choice.exclude if name != column]
    if mode == "text":
        choice.text.append(column)
    elif mode == "exclude":
        choice.exclude.append(column)
    _save(found)


@require_POST
@signed_in
def rename(request: HttpRequest, draft_id: uuid.UUID, key: str) -> HttpResponse:
    """Give the table another name here; a taken one is made free again."""
    found = _open(request, draft_id)
    row = _row(found, key)
    choice = found.chosen.get(key)
    wanted = request.POST.get("into", "").strip()[:255]
    if choice is not None and wanted:
        used = {other.into for k, other in found.chosen.items() if k != key} | found.taken()
        choice.into = wanted if wanted not in used else choosing.free_name(row, used)
        _save(found)
    view = picker.asked(request.POST.dict())
    context = {
        **picker.side(found),
        **picker.rows(found, view),
        **_touched(found, view, [row]),
    }
    return render(request, "wizards/changed.html", context)


@require_GET
@signed_in
def sql(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """The whole text, for copying."""
    text = _open(request, draft_id).sql()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_POST
@signed_in
def refresh(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """List the upstream anew."""
    draft = drafting.load(request, draft_id)
    source = picker.source_of(draft)
    try:
        draft.run(render_pretty(RefreshReferences(statements.name_of(source.item))))
    except HeadraceError as error:
        return render_step(request, draft, "tables", {"error": error})
    return redirect(f"/sources/new/{draft.id}?step=tables")
