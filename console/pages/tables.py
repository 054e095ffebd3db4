"""Tables: the searchable list, and one table with its rows, columns, drift and statistics."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from catalog import reads
from catalog.reads import ColumnRow, ReferenceColumnRow, ReferenceRow, TableRow
from console.fragments import views
from console.fragments.grid import grid
from console.fragments.model import Fragment
from console.pages.items import drop_context, entry, select_all, select_from
from console.pages.request import rows_of, run
from console.visitor import signed_in
from ingest.errors import HeadraceError

PREVIEW_ROWS = 100
SORTED_ROWS = 200_000
"""Rows up to which a preview is worth sorting, so that new ones come first."""
TABS = (
    ("rows", "Rows"),
    ("columns", "Columns"),
    ("dependents", "Dependencies"),
    ("history", "Status history"),
    ("sql", "SQL"),
)


@dataclass(frozen=True)
class ColumnLine:
    """A column here and upstream; either side may be missing."""

    name: str
    column: ColumnRow | None
    upstream: ReferenceColumnRow | None

    @property
    def key(self) -> bool:
        """Part of the upstream key."""
        return self.upstream is not None and self.upstream.in_key

    @property
    def as_text(self) -> bool:
        """Read as text though upstream has another type."""
        if self.column is None or self.upstream is None:
            return False
        return self.column.type == "text" and self.upstream.native != "text"


@signed_in
def table_list(request: HttpRequest) -> HttpResponse:
    """Tables by name and source, a page at a time, live."""
    asked = {key: request.GET.get(key, "").strip() for key in ("q", "source", "page")}
    page = views.tables(asked)
    count = page["count"]
    filters = {"q": asked["q"], "source": asked["source"]}
    narrowed = any(filters.values())
    pager = count.data["page"] if isinstance(count, Fragment) else None
    context = {
        **filters,
        "page": page,
        "pager": pager,
        "pager_path": f"?{urlencode(filters)}&",
        "sources": reads.sources(),
        "live": urlencode({"view": "tables", **asked}),
        "empty": not narrowed and isinstance(pager, views.Page) and not pager.total,
    }
    return render(request, "tables/list.html", context)


@signed_in
def table_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One table."""
    table = reads.table(item_id)
    if table is None:
        raise Http404
    tab = request.GET.get("tab", "rows")
    context: dict[str, object] = {
        "table": table,
        "tabs": TABS,
        "tab": tab if tab in dict(TABS) else "rows",
        "page": views.table({"id": item_id}),
        "query": select_all(table.item, _newest(table)),
        **drop_context(table.item),
    }
    if tab == "columns":
        context["columns"] = _columns(table)
    elif tab == "dependents":
        context["inputs"] = [entry(table.source)] if table.source else []
        context["readers"] = [entry(other) for other in reads.dependents(item_id)]
        context["lineage"] = f"/lineage/{item_id}"
    elif tab == "history":
        context["history"] = reads.status_history(item_id)
    return render(request, "tables/page.html", context)


def _newest(table: TableRow) -> tuple[str, ...]:
    small = table.rows_staged + table.updates_committed <= SORTED_ROWS
    return table.key if small else ()


def _columns(table: TableRow) -> list[ColumnLine]:
    reference = _reference(table)
    upstream = {column.name: column for column in reference.columns} if reference else {}
    lines = [ColumnLine(c.name, c, upstream.pop(c.name, None)) for c in table.columns]
    return lines + [ColumnLine(name, None, column) for name, column in upstream.items()]


def _reference(table: TableRow) -> ReferenceRow | None:
    if table.source is None:
        return None
    wanted = (table.namespace, table.reference)
    rows = reads.references(table.source.id)
    return next((row for row in rows if (row.namespace, row.name) == wanted), None)


@signed_in
def table_rows(request: HttpRequest, item_id: str) -> HttpResponse:
    """The first rows, read as any SELECT is."""
    table = reads.table(item_id)
    if table is None:
        raise Http404
    began = time.perf_counter()
    try:
        rows = rows_of(run(request, select_from(table.item, PREVIEW_ROWS, _newest(table))))
    except HeadraceError as error:
        return render(request, "tables/preview.html", {"error": error})
    context = {
        "grid": grid(rows, PREVIEW_ROWS) if rows else None,
        "milliseconds": round((time.perf_counter() - began) * 1000),
    }
    return render(request, "tables/preview.html", context)
