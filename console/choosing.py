"""Which region a request is about: what it says itself, else what its session has chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from catalog.errors import UnknownItem
from catalog.here import region_here, within
from catalog.regions import region_named, region_names

HEADER = "Headrace-Region"
PARAMETER = "region"
_KEY = "region"


class RegionMiddleware:
    """Lets everything that a request asks for be about its region.

    `?region=` stands before the header, and both before what the switcher has kept in the session.
    A form that a page of another region sends keeps that page's region. An unknown name fails
    where somebody needs a region, so that nobody who is not signed in can try names.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, answer: Callable[[HttpRequest], Any]) -> None:
        """`answer` is the rest of the handlers."""
        self._answer = answer
        if iscoroutinefunction(answer):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Answer one request."""
        if iscoroutinefunction(self):
            return self._later(request)
        with _choice(request):
            return self._answer(request)

    async def _later(self, request: HttpRequest) -> HttpResponseBase:
        quick = not (_asked_for(request) or _has_session(request))
        choice = within("") if quick else await sync_to_async(_choice)(request)
        with choice:
            answer: HttpResponseBase = await self._answer(request)
        return answer

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A page of an unknown region is not found."""
        if not isinstance(error, UnknownItem):
            return None
        try:
            region_here()
        except UnknownItem:
            return render(request, "404.html", status=404)
        return None


def _choice(request: HttpRequest) -> AbstractContextManager[None]:
    asked = _asked_for(request)
    by_address = request.method == "POST" and PARAMETER in request.GET
    if asked and by_address and _is_page(request) and _has_session(request):
        _keep_if_known(request, asked)
    return _asked(asked) if asked else within(kept_in(_session(request)))


def _asked_for(request: HttpRequest) -> str:
    return request.GET.get(PARAMETER, "") or request.headers.get(HEADER, "")


def _asked(name: str) -> AbstractContextManager[None]:
    try:
        return within(region_named(name))
    except UnknownItem:
        return within(name, known=False)


def _is_page(request: HttpRequest) -> bool:
    return not request.path.startswith(("/api/", "/query"))


def _has_session(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES


def _session(request: HttpRequest) -> Any:
    return request.session if _has_session(request) else {}


def _keep_if_known(request: HttpRequest, name: str) -> None:
    try:
        keep(request, name)
    except UnknownItem:
        return


def keep(request: HttpRequest, name: str) -> str:
    """Let the session be about that region from now on; its name. Raises UnknownItem."""
    region = region_named(name)
    if kept_in(request.session) != region:
        request.session[_KEY] = region
    return region


def kept_in(session: Mapping[str, Any]) -> str:
    """The region that a session has chosen; empty for the installation's own."""
    found = str(session.get(_KEY, ""))
    return found if found and found in region_names() else ""


def in_query(query: bytes) -> str:
    """The region that the query string of an address names, empty for none."""
    return parse_qs(query.decode("latin-1")).get(PARAMETER, [""])[0]
