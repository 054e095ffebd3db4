"""Who is at a SQL websocket: from which page, and by which credentials.

A browser sends its cookies to a websocket from any page it shows, so a session counts only when
the page is the console's own. Programs send no Origin, and say who they are.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from channels.auth import AuthMiddlewareStack
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http.request import validate_host

from catalog import accounts
from catalog.errors import SignInRefused

Scope = dict[str, Any]
_OWN_PAGE = "headrace.own_page"


@dataclass(frozen=True)
class Visitor:
    """A user, and a way to ask whether they may still come in."""

    user: Any
    still_welcome: Callable[[], bool]


class Door:
    """Lets programs and the console's own pages through to `application`, nobody else's pages."""

    def __init__(self, application: Any) -> None:
        self._application = AuthMiddlewareStack(application)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        """Pass the connection on, or refuse it with 403."""
        headers = headers_of(scope)
        origin = headers.get("origin")
        if origin is not None and not is_own(origin, headers.get("host", "")):
            return await WebsocketDenier()(scope, receive, send)
        scope = {**scope, _OWN_PAGE: origin is not None}
        return await self._application(scope, receive, send)


def headers_of(scope: Scope) -> dict[str, str]:
    """The request's headers, names in lower case."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def is_own(origin: str, host: str) -> bool:
    """Whether a page of that origin is one of the console's, which is asked for at `host`."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    page = urlsplit(origin)
    allowed = validate_host(page.hostname or "", settings.ALLOWED_HOSTS)
    return page.scheme in {"http", "https"} and allowed and page.netloc == host


def by_session(scope: Scope) -> Visitor | None:
    """The user signed in to the page that opened the connection, if there is one."""
    user = scope.get("user")
    if not scope.get(_OWN_PAGE) or user is None or not user.is_authenticated:
        return None
    key = scope["session"].session_key
    return Visitor(user, lambda: _session_goes_on(key))


def by_header(scope: Scope) -> Visitor | None:
    """The user that an Authorization header names, if there is one.

    Raises SignInRefused or TooManyAttempts.
    """
    words = headers_of(scope).get("authorization", "").split()
    if not words:
        return None
    if len(words) != 2 or words[0].lower() not in {"basic", "bearer"}:
        raise SignInRefused("an Authorization header is Basic or Bearer, and one word")
    if words[0].lower() == "bearer":
        return by_password("", words[1], scope)
    try:
        email, _, password = base64.b64decode(words[1], validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise SignInRefused("the Authorization header is not valid") from None
    if not email:
        raise SignInRefused("an e-mail is needed beside the app password")
    return by_password(email, password, scope)


def by_frame(frame: Mapping[str, Any], scope: Scope) -> Visitor:
    """The user that the first frame names: user and password, a token, or the session's.

    Raises SignInRefused or TooManyAttempts.
    """
    user, password, token = (frame.get(name) for name in ("user", "password", "token"))
    if isinstance(token, str):
        return by_password("", token, scope)
    if isinstance(user, str) and user and isinstance(password, str):
        return by_password(user, password, scope)
    if user is not None or password is not None or token is not None:
        raise SignInRefused("user and password, or token, must be texts")
    found = by_header(scope) or by_session(scope)
    if found is None:
        raise SignInRefused("the first message must say who is there")
    return found


def by_password(email: str, password: str, scope: Scope) -> Visitor:
    """The user of an app password. Raises SignInRefused or TooManyAttempts."""
    client = scope.get("client") or ("",)
    user = accounts.authenticate_app_password(password, email=email, address=str(client[0]))
    return Visitor(user, lambda: accounts.is_valid(password, email))


def _session_goes_on(key: str | None) -> bool:
    return SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(key)
