"""Switching the console to another region of the account."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog.errors import UnknownItem
from console.choosing import keep
from console.frame import NAVIGATION
from console.visitor import signed_in


@require_POST
@signed_in
def switch(request: HttpRequest) -> HttpResponse:
    """Let the session be about another region, and show there what was looked at here."""
    try:
        keep(request, request.POST.get("region", ""))
    except UnknownItem:
        return render(request, "404.html", status=404)
    following = request.POST.get("next", "")
    known = {place.path for _, places in NAVIGATION for place in places}
    return redirect(following if following in known else "/")
