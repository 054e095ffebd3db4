"""All migrations: what is left to migrate in each region, and planning it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog.migrate import store
from console.fragments import migrating
from console.visitor import owners_only, user_of
from ingest.errors import HeadraceError


@owners_only
def migration_list(request: HttpRequest) -> HttpResponse:
    """Every region with what is in the older form, and the newest migrations."""
    return _list(request, None)


def _list(request: HttpRequest, error: HeadraceError | None) -> HttpResponse:
    context = {"page": migrating.migrations({}), "error": error}
    return render(request, "migrations/list.html", context)


@require_POST
@owners_only
def plan(request: HttpRequest) -> HttpResponse:
    """Plan a region's sources to tables: a dry run, which has a page of its own."""
    region = request.POST.get("region", "")
    try:
        made = store.make_plan(region, store.TABLES, user_of(request).email)
    except HeadraceError as error:
        return _list(request, error)
    messages.success(request, f"Planned m{made.number}; nothing was changed")
    return redirect(f"/migrations/{region}/m{made.number}")
