"""Personal tokens: made, shown once, listed, revoked, recognised."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, field

from django.utils import timezone

from catalog.accounts import attempts
from catalog.accounts.secrets import Credentials, decode, encode, fingerprint, matches
from catalog.errors import InvalidStatement, SignInRefused, UnknownItem
from catalog.models import ApiToken, User

_USED_AT_STEP = dt.timedelta(minutes=1)


@dataclass(frozen=True)
class TokenRow:
    """A token as its owner may see it: everything but the secret."""

    client_id: uuid.UUID
    name: str
    created_at: dt.datetime
    used_at: dt.datetime | None
    revoked_at: dt.datetime | None


@dataclass(frozen=True)
class IssuedToken:
    """A new token, the only time its secret is there to be read."""

    token: TokenRow
    secret: uuid.UUID = field(repr=False)
    app_password: str = field(repr=False)


def create_token(user: User, name: str) -> IssuedToken:
    """Make a token for a user. Raises InvalidStatement for an empty or overlong name."""
    label = name.strip()
    if not label or len(label) > 200:
        raise InvalidStatement("a token needs a name of 1 to 200 characters")
    credentials = Credentials(uuid.uuid4(), uuid.uuid4())
    stored = ApiToken.objects.create(
        client_id=credentials.client_id,
        secret_hash=fingerprint(credentials),
        name=label,
        user=user,
    )
    return IssuedToken(_row(stored), credentials.secret, encode(credentials))


def tokens(user: User) -> list[TokenRow]:
    """A user's tokens that are not revoked, newest first."""
    found = ApiToken.objects.filter(user=user, revoked_at=None).order_by("-created_at", "-pk")
    return [_row(token) for token in found]


def revoke_token(user: User, client_id: uuid.UUID) -> None:
    """End a token of that user's at once. Raises UnknownItem for anything else."""
    found = ApiToken.objects.filter(user=user, client_id=client_id, revoked_at=None)
    if not found.update(revoked_at=timezone.now()):
        message = f'unknown token "{client_id}"'
        raise UnknownItem(message)


def authenticate_app_password(password: str, *, email: str = "", address: str = "") -> User:
    """The user whom an app-specific password stands for; with `email`, only that user's own.

    `address` is where the caller is, for counting failures. Raises SignInRefused, and
    TooManyAttempts after many failures; a right password is let in even then.
    """
    user = recognise(password, email)
    if user is not None:
        return user
    wanted = email.strip().lower()
    attempts.check(wanted, address)
    attempts.failed(wanted, address)
    raise SignInRefused(
        "invalid e-mail or app password",
        hint="Use an app password made under Account, not the one you sign in with.",
    )


def recognise(password: str, email: str = "") -> User | None:
    """The active user with that app-specific password (and e-mail, if given), or None."""
    credentials = decode(password)
    if credentials is None:
        return None
    token = (
        ApiToken.objects.select_related("user")
        .filter(client_id=credentials.client_id, revoked_at=None, user__is_active=True)
        .first()
    )
    if token is None or not matches(credentials, token.secret_hash):
        return None
    if email and token.user.email != email.strip().lower():
        return None
    _used(token)
    return token.user


def is_valid(password: str, email: str = "") -> bool:
    """Whether an app-specific password that was good before still is."""
    return recognise(password, email) is not None


def _used(token: ApiToken) -> None:
    """Note the use, at most once a minute: a busy client must not become a writer."""
    now = timezone.now()
    if token.used_at is None or now - token.used_at >= _USED_AT_STEP:
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)


def _row(token: ApiToken) -> TokenRow:
    return TokenRow(token.client_id, token.name, token.created_at, token.used_at, token.revoked_at)
