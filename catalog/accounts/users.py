"""Users: the first owner by one-time link, more by invitation; sign-in.

A user's e-mail never changes; it is also the name of the user's role in the region.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from catalog.accounts import attempts
from catalog.accounts.tokens import recognise
from catalog.bootstrap import ensure_role
from catalog.errors import DuplicateItem, InvalidStatement, SignInRefused
from catalog.models import Account, User

ACCOUNT = "default"
FIRST_OWNER_PATH = "/welcome"
_SALT = "headrace.first-owner"
_LINK_LASTS = 7 * 24 * 3600


def has_users() -> bool:
    """Whether anybody can sign in yet."""
    return User.objects.exists()


def user_by_email(email: str) -> User | None:
    """The active user with that e-mail, whatever its case."""
    return User.objects.filter(email=email.strip().lower(), is_active=True).first()


def first_owner_link(base_url: str) -> str | None:
    """Where the first visitor becomes the owner; None once there is one.

    The link ends with the first owner, and after seven days.
    """
    if has_users():
        return None
    token = signing.dumps("first owner", salt=_SALT)
    return f"{base_url.rstrip('/')}{FIRST_OWNER_PATH}?{urlencode({'token': token})}"


def claim_first_owner(token: str, email: str, password: str) -> User:
    """Make the first owner. Raises SignInRefused when the link is stale, forged or used up."""
    try:
        signing.loads(token, salt=_SALT, max_age=_LINK_LASTS)
    except signing.BadSignature:
        raise _used_up() from None
    with transaction.atomic():
        account, _ = Account.objects.get_or_create(name=ACCOUNT)
        Account.objects.select_for_update().get(pk=account.pk)
        if has_users():
            raise _used_up()
        return create_user(email, password, owner=True)


def _used_up() -> SignInRefused:
    return SignInRefused(
        "this link is no longer valid",
        hint="Restart Headrace for a new link, or sign in if an owner is there already.",
    )


@transaction.atomic
def create_user(
    email: str, password: str | None = None, *, owner: bool = False, name: str = ""
) -> User:
    """Store a user with a role of the same name; an owner may do everything in the region.

    Without a password the user comes in by app password only. Raises InvalidStatement for a bad
    e-mail or a weak password, DuplicateItem for an e-mail that is taken.
    """
    address = email.strip().lower()
    user = User(email=address, name=name)
    _check(user, password)
    if User.objects.filter(email=address).exists():
        message = f'user "{address}" already exists'
        raise DuplicateItem(message)
    account, _ = Account.objects.get_or_create(name=ACCOUNT)
    ensure_role(settings.HEADRACE_REGION, address, superuser=owner)
    return User.objects.create_user(
        address, password, name=name, account=account, is_staff=owner, is_superuser=owner
    )


def _check(user: User, password: str | None) -> None:
    try:
        validate_email(user.email)
    except ValidationError:
        message = f'invalid e-mail address "{user.email}"'
        raise InvalidStatement(message) from None
    if password is None:
        return
    try:
        validate_password(password, user)
    except ValidationError as error:
        reasons = " ".join(error.messages)
        raise InvalidStatement("the password is too weak", detail=reasons) from None


def authenticate(email: str, password: str, address: str = "") -> User:
    """The user with that password, or with that app-specific password, for the sign-in page.

    Raises SignInRefused, with one text for every reason, and TooManyAttempts.
    """
    found = recognise(password, email)
    if found is not None:
        return found
    wanted = email.strip().lower()
    attempts.check(wanted, address)
    user = user_by_email(wanted)
    if user is None:
        make_password(password)
    elif user.check_password(password):
        attempts.succeeded(wanted, address)
        return user
    attempts.failed(wanted, address)
    raise SignInRefused("invalid e-mail or password")
