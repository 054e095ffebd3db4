"""Signing in and out, the first owner, personal tokens and app passwords."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from catalog import accounts
from console.visitor import signed_in, user_of
from ingest.errors import HeadraceError

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@sensitive_post_parameters("password")
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """By e-mail and password; then back to where the visitor wanted to go."""
    following = request.POST.get("next") or request.GET.get("next", "/")
    if not url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()}):
        following = "/"
    context = {"next": following, "has_users": accounts.has_users()}
    if request.method != "POST":
        return redirect(following) if request.user.is_authenticated else _form(request, context)
    email = request.POST.get("email", "")
    try:
        user = accounts.authenticate(
            email, request.POST.get("password", ""), str(request.META.get("REMOTE_ADDR", ""))
        )
    except HeadraceError as error:
        return _form(request, {**context, "error": error, "email": email})
    login(request, user, backend=_BACKEND)
    return redirect(following)


def _form(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    return render(request, "account/sign_in.html", context)


@sensitive_post_parameters("password")
@never_cache
def welcome(request: HttpRequest) -> HttpResponse:
    """The one-time link by which the first visitor becomes the owner."""
    token = request.POST.get("token") or request.GET.get("token", "")
    if request.method != "POST":
        context = {"token": token, "has_users": accounts.has_users()}
        return render(request, "account/welcome.html", context)
    email = request.POST.get("email", "")
    try:
        user = accounts.claim_first_owner(token, email, request.POST.get("password", ""))
    except HeadraceError as error:
        context = {"token": token, "error": error, "email": email}
        return render(request, "account/welcome.html", context)
    login(request, user, backend=_BACKEND)
    return redirect("/")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("/sign-in")


@never_cache
@signed_in
def account(request: HttpRequest) -> HttpResponse:
    """The user's tokens; a POST makes one and shows its secret this once."""
    user = user_of(request)
    context: dict[str, object] = {"show_new": "new" in request.GET}
    if request.method == "POST":
        try:
            context = {"issued": accounts.create_token(user, request.POST.get("name", ""))}
        except HeadraceError as error:
            context = {"error": error}
    return render(request, "account/page.html", {"rows": accounts.tokens(user), **context})


@require_POST
@signed_in
def revoke(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """End a token at once."""
    try:
        accounts.revoke_token(user_of(request), client_id)
        messages.success(request, "Revoked")
    except HeadraceError as error:
        messages.error(request, error.message)
    return redirect("/account")
