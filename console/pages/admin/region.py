"""One region: its flags with their history, its place in a rollout, its migrations."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from catalog.errors import UnknownItem
from catalog.migrate import reads, regions
from catalog.migrate.regions import RegionRow
from catalog.sql import render as render_statement
from catalog.sql.nodes.session import AlterSystem
from console import execute
from console.visitor import owners_only, user_of
from ingest.errors import HeadraceError


@owners_only
def region_page(request: HttpRequest, region: str) -> HttpResponse:
    """The region as it is when the page is opened."""
    return _page(request, region, None)


def _page(request: HttpRequest, region: str, error: HeadraceError | None) -> HttpResponse:
    row = _row(region)
    context = {
        "region": row,
        "history": regions.flag_history(region),
        "migrations": reads.migrations(region),
        "announced": regions.announced(region, timezone.now()),
        "error": error,
    }
    return render(request, "rollout/region_page.html", context)


def _row(region: str) -> RegionRow:
    try:
        return regions.region(region)
    except UnknownItem as error:
        raise Http404 from error


@require_POST
@owners_only
def set_flag(request: HttpRequest, region: str) -> HttpResponse:
    """Set a flag of the region, as ALTER SYSTEM does there; nothing takes the default."""
    _row(region)
    name, value = request.POST.get("name", ""), request.POST.get("value") or None
    sql = render_statement(AlterSystem(name, value))
    try:
        execute.runner(user_of(request), region)(sql)
    except HeadraceError as error:
        return _page(request, region, error)
    messages.success(request, f"{name} is {value or 'the default'} in {region}")
    return redirect(f"/rollout/{region}")
