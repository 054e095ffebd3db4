"""Sources: the list, and one source with its progress, references, history and definition."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from catalog import drafts, reads
from catalog.reads import ReferenceRow, SourceRow, TableRow
from catalog.reads.lineage import near
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.source import RefreshReferences
from console.fragments import views
from console.fragments.views import PAGE, Page
from console.pages.items import drop_context, path_of, select_all
from console.pages.request import run
from console.visitor import signed_in, user_of
from ingest.errors import HeadraceError

TABS = ("overview", "references", "history", "sql")


@dataclass(frozen=True)
class ReferenceLine:
    """An upstream table and the tables here that were made from it."""

    reference: ReferenceRow
    tables: tuple[TableRow, ...]


@signed_in
def source_list(request: HttpRequest) -> HttpResponse:
    """All sources, live."""
    context = {"page": views.sources({}), "drafts": drafts.open_drafts(user_of(request))}
    return render(request, "sources/list.html", context)


@signed_in
def source_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One source."""
    source = reads.source(item_id)
    if source is None:
        return redirect(_other_page(item_id))
    tab = request.GET.get("tab", "overview")
    number = request.GET.get("page", "1")
    number = number if number.isdigit() else "1"
    context = {
        "source": source,
        "tab": tab if tab in TABS else "overview",
        "number": number,
        "page": views.source({"id": item_id, "page": number}),
        "query": select_all(source.item),
        **drop_context(source.item),
    }
    if tab == "references":
        context |= _references(request, source)
    elif tab == "history":
        context["history"] = reads.status_history(item_id)
    else:
        pages = max(1, -(-source.tables // PAGE))
        context["pager"] = Page(min(pages, max(1, int(number))), pages, source.tables)
    return render(request, "sources/page.html", context)


def _other_page(item_id: str) -> str:
    """The page of an item that is part of a source of the older form, or a table."""
    if reads.table(item_id) is not None:
        return f"/tables/{item_id}"
    found = reads.item(item_id)
    of = near(item_id).inputs if found is not None and found.kind == "source" else ()
    if not of:
        raise Http404
    return path_of(of[0])


def _references(request: HttpRequest, source: SourceRow) -> dict[str, object]:
    wanted = request.GET.get("q", "").strip().lower()
    made: dict[tuple[str, str], list[TableRow]] = {}
    for table in reads.tables(source_id=source.item.id):
        made.setdefault((table.namespace, table.reference), []).append(table)
    lines = [
        ReferenceLine(row, tuple(made.get((row.namespace, row.name), ())))
        for row in reads.references(source.item.id)
        if wanted in f"{row.namespace}.{row.name}".lower()
    ]
    number = request.GET.get("page", "1")
    pages = max(1, -(-len(lines) // PAGE))
    at = min(pages, max(1, int(number) if number.isdigit() else 1))
    return {
        "rows": lines[(at - 1) * PAGE : at * PAGE],
        "q": request.GET.get("q", ""),
        "pager": Page(at, pages, len(lines)),
        "pager_path": f"?{urlencode({'tab': 'references', 'q': wanted})}&",
    }


@require_POST
@signed_in
def refresh(request: HttpRequest, item_id: str) -> HttpResponse:
    """List the upstream's tables anew."""
    source = reads.source(item_id)
    if source is None:
        raise Http404
    item = source.item
    try:
        run(request, RefreshReferences(Name((item.database, item.schema, item.name))))
        messages.success(request, "The upstream was listed anew")
    except HeadraceError as error:
        messages.error(request, f"{error.message}. {error.hint or ''}")
    return redirect(f"{path_of(item)}?tab=references")
