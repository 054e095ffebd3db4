"""Who asks for a page: signed in, or sent to sign in and back to where they were."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import urlencode

from catalog.errors import PermissionDenied

Parameters = ParamSpec("Parameters")
PageView = Callable[Concatenate[HttpRequest, Parameters], HttpResponseBase]
SIGN_IN = "/sign-in"


def signed_in(view: PageView[Parameters]) -> PageView[Parameters]:
    """A page for users; everybody else is sent to sign in and back."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        return _to_sign_in(request)

    return guarded


def user_of(request: HttpRequest) -> Any:
    """The signed-in user."""
    user = request.user
    assert isinstance(user, get_user_model())  # noqa: S101 (every page is behind `signed_in`)
    return user


def account_owner(user: Any) -> str:
    """The e-mail of a user who owns the account; raises PermissionDenied for everybody else."""
    if not user.is_superuser:
        raise PermissionDenied("only an account owner may do this")
    return str(user.email)


def owners_only(view: PageView[Parameters]) -> PageView[Parameters]:
    """A page for account owners; others who are signed in are told so, with 403."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> HttpResponseBase:
        try:
            account_owner(user_of(request))
        except PermissionDenied as error:
            return render(request, "admin/denied.html", {"error": error}, status=403)
        return view(request, *args, **kwargs)

    return signed_in(guarded)


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A redirect; for a part of a page, one of the whole page."""
    target = f"{SIGN_IN}?{urlencode({'next': _place(request)})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return HttpResponseRedirect(target)


def _place(request: HttpRequest) -> str:
    """The page that the visitor was looking at: not the address of a form or of a part."""
    if request.method == "GET" and not request.headers.get("HX-Request"):
        return request.get_full_path()
    came = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    url = urlsplit(came)
    if not came or url.netloc != request.get_host():
        return "/"
    return f"{url.path}?{url.query}" if url.query else url.path
