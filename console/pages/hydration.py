"""Stopping a view's first computation, and letting it go on."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from catalog.maintenance import hydrating
from console.fragments.owners import owner_only
from console.pages.views import found
from console.visitor import signed_in, user_of
from ingest.errors import HeadraceError

_WORDS = {"cancel": "Stopped", "resume": "Goes on"}


@require_POST
@signed_in
def hydration(request: HttpRequest, item_id: str, action: str) -> HttpResponse:
    """Stop or resume, as the view's owner."""
    view = found(item_id)
    place = "replacements" if view.target is not None else "views"
    act = hydrating.cancel_hydration if action == "cancel" else hydrating.resume_hydration
    try:
        region = owner_only(user_of(request), view.item)
        if act(region, item_id):
            messages.success(request, f"{view.item.name}: {_WORDS[action].lower()}")
    except HeadraceError as error:
        messages.error(request, error.message)
    return redirect(f"/{place}/{item_id}")
