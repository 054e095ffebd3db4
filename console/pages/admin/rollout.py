"""Rollouts: regions, cohorts with their windows, what people were told, flags of new regions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from catalog.errors import InvalidStatement
from catalog.migrate import regions, rollout
from catalog.time.as_of import moment_of
from console.fragments import migrating
from console.visitor import owners_only, user_of
from ingest.errors import HeadraceError

TABS = (
    ("regions", "Regions"),
    ("cohorts", "Cohorts"),
    ("announcements", "Announcements"),
    ("defaults", "New regions"),
)


@owners_only
def rollout_page(request: HttpRequest) -> HttpResponse:
    """The page; `tab` chooses its part."""
    return _page(request, request.GET.get("tab", "regions"), None)


def _page(request: HttpRequest, tab: str, error: HeadraceError | None) -> HttpResponse:
    context: dict[str, object] = {
        "tabs": TABS,
        "tab": tab if tab in dict(TABS) else "regions",
        "page": migrating.rollout({}),
        "announcements": regions.announcements() if tab == "announcements" else (),
        "defaults": regions.flag_defaults() if tab == "defaults" else (),
        "names": [row.name for row in regions.regions()],
        "cohorts": regions.cohorts(),
        "given": request.POST,
        "error": error,
        "show": request.POST.get("dialog", "") if error is not None else "",
    }
    return render(request, "rollout/page.html", context)


def moment(text: str) -> dt.datetime | None:
    """A time that was typed, in UTC; None for none. Raises InvalidStatement."""
    if not text.strip():
        return None
    found = moment_of(text)
    if found is None:
        message = f'"{text}" is not a time'
        raise InvalidStatement(message, hint="Such as 2026-12-01 02:00, in UTC.")
    return found


def _region(request: HttpRequest) -> str:
    provider, place = (request.POST.get(key, "").strip() for key in ("provider", "place"))
    email = user_of(request).email
    warehouse = request.POST.get("warehouse", "").strip()
    made = rollout.enable_region(provider, place, email, warehouse)
    return f"Made region {made.region}" if made.made else f"Region {made.region} is there already"


def _cohort(request: HttpRequest) -> str:
    name = request.POST.get("name", "").strip()
    if not name:
        raise InvalidStatement("a cohort needs a name")
    opens, closes = (moment(request.POST.get(key, "")) for key in ("opens", "closes"))
    if (opens is None) != (closes is None):
        raise InvalidStatement("a window has a beginning and an end, or neither")
    if opens is not None and closes is not None and closes <= opens:
        raise InvalidStatement("the window ends before it begins")
    rollout.set_cohort(name, tuple(request.POST.getlist("regions")))
    rollout.set_window(name, opens, closes)
    return f"Cohort {name} is set"


def _pause(request: HttpRequest) -> str:
    name, paused = request.POST.get("name", ""), request.POST.get("paused") == "1"
    rollout.pause_cohort(name, paused=paused)
    return f"Paused cohort {name}" if paused else f"Cohort {name} goes on"


def _announce(request: HttpRequest) -> str:
    title, text = (request.POST.get(key, "").strip() for key in ("title", "text"))
    if not title or not text:
        raise InvalidStatement("an announcement needs a title and a text")
    rollout.announce(title, text, user_of(request).email, request.POST.get("cohort", ""))
    return "Announced"


def _default(request: HttpRequest) -> str:
    name, value = request.POST.get("name", ""), request.POST.get("value", "")
    pinned = rollout.set_default(name, value or None)
    kept = f"; {pinned} region{'' if pinned == 1 else 's'} keep what they have" if pinned else ""
    return f"{name} is {value or 'what the release says'} in new regions{kept}"


_ACTS: dict[str, tuple[str, Callable[[HttpRequest], str]]] = {
    "region": ("regions", _region),
    "cohort": ("cohorts", _cohort),
    "pause": ("cohorts", _pause),
    "announce": ("announcements", _announce),
    "default": ("defaults", _default),
}


@require_POST
@owners_only
def change(request: HttpRequest, what: str) -> HttpResponse:
    """Make or change one thing; a refusal is told on the page with what was typed."""
    if what not in _ACTS:
        raise Http404
    tab, act = _ACTS[what]
    try:
        done = act(request)
    except HeadraceError as error:
        return _page(request, tab, error)
    messages.success(request, done)
    return redirect(f"/rollout?tab={tab}")
