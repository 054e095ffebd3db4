"""Materialized views: the list, and one with its definition, rows, lineage and versions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.reads import ColumnRow, VersionRow, ViewRow
from catalog.reads import views as maintained
from catalog.reads.lineage import Lineage, lineage
from catalog.sql import render as render_statement
from catalog.sql.nodes.replacement import RollbackReplacement
from console.fragments import maintained as live
from console.fragments.compare import Comparison, compare
from console.fragments.definition import query_of, whole
from console.fragments.grid import grid
from console.fragments.lineage import Ends, ends, graph
from console.fragments.model import Fragment
from console.fragments.paging import Page
from console.fragments.views import audit_row
from console.pages.items import blast, name_of, select_all, select_from
from console.pages.request import rows_of, run
from console.visitor import signed_in
from ingest.errors import HeadraceError

PREVIEW_ROWS = 100
SORTED_ROWS = 200_000
_EVENTS = 50
TABS = (
    ("overview", "Overview"),
    ("columns", "Columns"),
    ("lineage", "Lineage"),
    ("replacements", "Replacements"),
    ("versions", "Versions"),
    ("history", "History"),
)
_SAID = {"created": "Created", "applied": "Replaced", "undone": "Undone"}


@dataclass(frozen=True)
class ColumnLine:
    """A column with what it is made from and what is made from it."""

    column: ColumnRow
    key: bool
    ends: Ends
    comment: str


@dataclass(frozen=True)
class VersionLine:
    """A version with its query, compared with the one before it."""

    version: VersionRow
    title: str
    sql: str
    comparison: Comparison | None
    before: int
    current: bool

    @property
    def own_title(self) -> str:
        """The heading of this side."""
        return f"Version {self.version.number}"

    @property
    def before_title(self) -> str:
        """The heading of the other side."""
        return f"Version {self.before}"


@signed_in
def view_list(request: HttpRequest) -> HttpResponse:
    """Materialized views, live; plain ones below them."""
    asked = {key: request.GET.get(key, "").strip() for key in ("q", "page")}
    page = live.views(asked)
    count = page["count"]
    pager = count.data["page"] if isinstance(count, Fragment) else None
    plain = [item for item in reads.items("view") if asked["q"].lower() in item.name.lower()]
    context = {
        "q": asked["q"],
        "page": page,
        "pager": pager,
        "pager_path": f"?{urlencode({'q': asked['q']})}&",
        "plain": plain,
        "live": urlencode({"view": "views", **asked}),
        "empty": not asked["q"] and isinstance(pager, Page) and not pager.total,
    }
    return render(request, "views/list.html", context)


def found(item_id: str) -> ViewRow:
    """The view or replacement with that id. Raises Http404."""
    row = maintained.view(item_id)
    if row is None:
        raise Http404
    return row


@signed_in
def view_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One view; a replacement has a page of its own."""
    view = found(item_id)
    if view.target is not None:
        return redirect(f"/replacements/{item_id}")
    tab = request.GET.get("tab", "overview")
    tab = tab if tab in dict(TABS) else "overview"
    return _page(request, view, tab, None)


def _page(
    request: HttpRequest, view: ViewRow, tab: str, error: HeadraceError | None
) -> HttpResponse:
    item = view.item
    versions = maintained.versions(item.id)
    dependents = reads.dependents(item.id)
    undo = next((version for version in versions if version.undo), None)
    context: dict[str, object] = {
        "view": view,
        "comment": view.comments.get(0, ""),
        "tabs": TABS,
        "tab": tab,
        "page": live.view({"id": item.id}),
        "pending": len(maintained.replacements(item.id)),
        "versions": versions,
        "undo": undo,
        "undo_sql": f"{render_statement(RollbackReplacement(name_of(item)))};",
        "query": select_all(item, _newest(view)),
        "definition": whole(item.create_sql),
        "dependents": dependents,
        "drop": blast(item, dependents),
        "error": error,
    }
    if tab in {"columns", "lineage"}:
        context |= _lineage(view, request.GET.get("column", ""))
    elif tab == "versions":
        context["versions"] = version_lines(versions)
    elif tab == "history":
        context["history"] = reads.status_history(item.id)
        context["events"] = events(item.id)
    return render(request, "views/page.html", context)


def events(*ids: str) -> list[Fragment]:
    """Audit events of items, the newest first."""
    rows = [row for item_id in ids for row in reads.audit(limit=_EVENTS, object_id=item_id)]
    return [audit_row(row) for row in sorted(rows, key=lambda row: -row.id)[:_EVENTS]]


def _newest(view: ViewRow) -> tuple[str, ...]:
    return view.key if 0 <= view.rows <= SORTED_ROWS else ()


def _lineage(view: ViewRow, chosen: str) -> dict[str, object]:
    around = lineage(view.item.id) or Lineage((), (), ())
    by_column = ends(around, view.item.id)
    nothing = Ends((), ())
    mine = next((one for one in around.items if one.item.id == view.item.id), None)
    return {
        "columns": [
            ColumnLine(
                column,
                column.name in view.key,
                by_column.get(column.name, nothing),
                view.comments.get(column.position, ""),
            )
            for column in view.columns
        ],
        "traced": mine is not None and mine.traced,
        "graph": graph(around, view.item.id, "?tab=lineage&", chosen),
        "all": "?tab=lineage",
        "item": view.item,
    }


def version_lines(versions: Sequence[VersionRow]) -> list[VersionLine]:
    """Versions, the newest first, each compared with the one before it."""
    texts = [query_of(version.create_sql) for version in versions]
    lines = []
    for place, version in enumerate(versions):
        older = texts[place + 1] if place + 1 < len(versions) else None
        lines.append(
            VersionLine(
                version,
                _SAID.get(version.event, version.event.capitalize()),
                texts[place],
                None if older is None else compare(older, texts[place]),
                versions[place + 1].number if older is not None else 0,
                current=not version.until,
            )
        )
    return lines


@signed_in
def view_rows(request: HttpRequest, item_id: str) -> HttpResponse:
    """The first rows, read as any SELECT is."""
    view = found(item_id)
    if not view.hydrated:
        return render(request, "views/waiting.html", {"view": view})
    began = time.perf_counter()
    try:
        rows = rows_of(run(request, select_from(view.item, PREVIEW_ROWS, _newest(view))))
    except HeadraceError as error:
        return render(request, "tables/preview.html", {"error": error})
    context = {
        "grid": grid(rows, PREVIEW_ROWS) if rows else None,
        "milliseconds": round((time.perf_counter() - began) * 1000),
        "what": "view",
    }
    return render(request, "tables/preview.html", context)


@require_POST
@signed_in
def undo(request: HttpRequest, item_id: str) -> HttpResponse:
    """Take the last apply back."""
    view = found(item_id)
    try:
        run(request, RollbackReplacement(name_of(view.item)))
    except HeadraceError as error:
        return _page(request, view, "versions", error)
    messages.success(request, f"{view.item.name} has its definition from before again")
    return redirect(f"/views/{item_id}?tab=versions")
