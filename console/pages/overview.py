"""The first page: what is live, how fresh it is, what needs a person."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from catalog import drafts, reads
from catalog.here import region_here
from catalog.migrate import regions
from console.fragments import views
from console.frame import THEMES
from console.visitor import signed_in, user_of

_ANNOUNCED = 3


@signed_in
def overview(request: HttpRequest) -> HttpResponse:
    """Live tiles, sources and attention; on an empty console the ways to begin."""
    empty = not reads.sources()
    context: dict[str, object] = {
        "empty": empty,
        "drafts": drafts.open_drafts(user_of(request)),
        "announced": regions.announced(region_here(), timezone.now())[:_ANNOUNCED],
    }
    if not empty:
        context["page"] = views.overview({})
    return render(request, "overview/page.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember light, dark or system."""
    wanted = request.POST.get("theme", "system")
    following = request.POST.get("next", "/")
    safe = url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()})
    answer = HttpResponseRedirect(following if safe else "/")
    if wanted in THEMES:
        answer.set_cookie("theme", wanted, max_age=365 * 24 * 3600, samesite="Lax")
    return answer
