"""Who is calling: an app-specific password (Basic or Bearer), or the console's session.

Sessions must show a CSRF token; passwords need none, because no browser sends them by itself.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import (
    BaseAuthentication,
    BasicAuthentication,
    get_authorization_header,
)
from rest_framework.request import Request

from catalog import accounts
from catalog.errors import SignInRefused


def address_of(request: Request) -> str:
    """Where the caller is, as the server that accepted the connection saw it."""
    return str(request.META.get("REMOTE_ADDR", ""))


class AppPassword(BasicAuthentication):
    """`Authorization: Basic` with the user's e-mail and an app-specific password."""

    www_authenticate_realm = "Headrace"

    def authenticate_credentials(
        self, userid: str, password: str, request: Request | None = None
    ) -> tuple[object, None]:
        """Look the password up. Raises SignInRefused or TooManyAttempts."""
        if not userid:
            raise SignInRefused("an e-mail is needed beside the app password")
        address = address_of(request) if request is not None else ""
        user = accounts.authenticate_app_password(password, email=userid, address=address)
        return user, None

    def authenticate_header(self, request: Request) -> str:
        """The challenge. A page's own script gets one that makes no browser ask for a password."""
        scheme = "Bearer" if "Sec-Fetch-Mode" in request.headers else "Basic"
        return f'{scheme} realm="{self.www_authenticate_realm}"'


class BearerToken(BaseAuthentication):
    """`Authorization: Bearer` with an app-specific password, which names its user itself."""

    def authenticate(self, request: Request) -> tuple[object, None] | None:
        """Look the password up. Raises SignInRefused or TooManyAttempts."""
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise SignInRefused("an Authorization header of Bearer needs exactly one token")
        password = words[1].decode("latin-1")
        return accounts.authenticate_app_password(password, address=address_of(request)), None


def is_signed_in(user: object) -> bool:
    """Whether a request's user is anybody."""
    return user is not None and not isinstance(user, AnonymousUser)
