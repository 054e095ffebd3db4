"""The page that shows the lineage of any table, source or view."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from catalog import reads
from catalog.reads.lineage import lineage
from console.fragments.lineage import graph
from console.fragments.places import path_of
from console.visitor import signed_in


@signed_in
def lineage_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """The graph around any table, source or view."""
    item, found = reads.item(item_id), lineage(item_id)
    if item is None or found is None:
        raise Http404
    base = f"/lineage/{item_id}"
    chosen = request.GET.get("column", "")
    context = {
        "item": item,
        "path": path_of(item),
        "graph": graph(found, item_id, f"{base}?", chosen),
        "all": base,
    }
    return render(request, "views/lineage_page.html", context)
