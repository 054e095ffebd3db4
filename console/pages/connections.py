"""Connections: the list, and one connection with its itemised validation."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from catalog import reads
from catalog.reads import ItemRow
from catalog.sql.nodes.connection import ValidateConnection
from console.fragments.checks import checks_of_error, checks_of_results
from console.fragments.targets import where
from console.pages.items import drop_context, name_of
from console.pages.request import run
from console.visitor import signed_in
from ingest.errors import HeadraceError


@dataclass(frozen=True)
class ConnectionLine:
    """A connection, where it leads, and how many sources use it."""

    item: ItemRow
    where: str
    sources: int


@signed_in
def connection_list(request: HttpRequest) -> HttpResponse:
    """All connections."""
    sources = reads.sources()
    rows = [
        ConnectionLine(
            item,
            where(item),
            sum(row.connection is not None and row.connection.id == item.id for row in sources),
        )
        for item in reads.connections()
    ]
    return render(request, "connections/list.html", {"rows": rows})


@signed_in
def connection_page(request: HttpRequest, item_id: str) -> HttpResponse:
    """One connection."""
    return _page(request, item_id, {})


@require_POST
@signed_in
def validate(request: HttpRequest, item_id: str) -> HttpResponse:
    """Look at the upstream now and itemise what is found."""
    item = _found(item_id)
    try:
        checks = checks_of_results(run(request, ValidateConnection(name_of(item))))
    except HeadraceError as error:
        checks = checks_of_error(error)
        return _page(request, item_id, {"checks": checks, "error": None if checks else error})
    return _page(request, item_id, {"checks": checks})


def _found(item_id: str) -> ItemRow:
    item = reads.item(item_id)
    if item is None or item.kind != "connection":
        raise Http404
    return item


def _page(request: HttpRequest, item_id: str, extra: dict[str, object]) -> HttpResponse:
    item = _found(item_id)
    context = {
        "item": item,
        "where": where(item),
        "sources": [
            row for row in reads.sources() if row.connection and row.connection.id == item.id
        ],
        **drop_context(item),
        **extra,
    }
    return render(request, "connections/page.html", context)
