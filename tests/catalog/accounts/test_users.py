"""First owner, users, sign-in, tokens."""

import uuid
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.db import connection

from catalog import accounts
from catalog.errors import (
    DuplicateItem,
    InvalidStatement,
    SignInRefused,
    TooManyAttempts,
    UnknownItem,
)
from catalog.models import Role

PASSWORD = "correct horse battery"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    cache.clear()


def _token(link: str | None) -> str:
    assert link is not None
    return parse_qs(urlsplit(link).query)["token"][0]


def test_the_first_owner_comes_in_by_a_link_that_works_once() -> None:
    link = accounts.first_owner_link("http://127.0.0.1:1234/")
    assert link is not None
    assert link.startswith("http://127.0.0.1:1234/welcome?token=")
    owner = accounts.claim_first_owner(_token(link), "Ada@Example.com ", PASSWORD)
    assert (owner.email, owner.is_superuser) == ("ada@example.com", True)
    assert Role.objects.get(name="ada@example.com").superuser
    assert accounts.first_owner_link("http://127.0.0.1:1234") is None
    with pytest.raises(SignInRefused):
        accounts.claim_first_owner(_token(link), "eve@example.com", PASSWORD)


@pytest.mark.parametrize("token", ["", "x", "ImZpcnN0IG93bmVyIg:1aaaaa:bbbb"])
def test_a_forged_link_is_refused(token: str) -> None:
    with pytest.raises(SignInRefused):
        accounts.claim_first_owner(token, "eve@example.com", PASSWORD)
    assert not accounts.has_users()


@pytest.mark.parametrize(("email", "password"), [("nobody", PASSWORD), ("a@b.org", "short")])
def test_a_refused_owner_leaves_nothing(email: str, password: str) -> None:
    token = _token(accounts.first_owner_link("http://h"))
    with pytest.raises(InvalidStatement):
        accounts.claim_first_owner(token, email, password)
    assert accounts.claim_first_owner(token, "ada@example.com", PASSWORD)


def test_members_are_no_superusers_and_emails_are_unique() -> None:
    member = accounts.create_user("bob@example.com", PASSWORD)
    assert not member.is_superuser
    assert not Role.objects.get(name="bob@example.com").superuser
    with pytest.raises(DuplicateItem):
        accounts.create_user("BOB@example.com", PASSWORD)


def test_sign_in_by_password_and_by_app_password() -> None:
    bob = accounts.create_user("bob@example.com", PASSWORD)
    issued = accounts.create_token(bob, "psql")
    assert accounts.authenticate("Bob@example.com", PASSWORD) == bob
    assert accounts.authenticate("bob@example.com", issued.app_password) == bob
    for wrong in ("", "wrong", PASSWORD.upper(), issued.app_password[:-2] + "AA"):
        with pytest.raises(SignInRefused):
            accounts.authenticate("bob@example.com", wrong)
    with pytest.raises(SignInRefused):
        accounts.authenticate("eve@example.com", PASSWORD)


def test_an_inactive_user_stays_out() -> None:
    bob = accounts.create_user("bob@example.com", PASSWORD)
    issued = accounts.create_token(bob, "psql")
    bob.is_active = False
    bob.save()
    for password in (PASSWORD, issued.app_password):
        with pytest.raises(SignInRefused):
            accounts.authenticate("bob@example.com", password)
    with pytest.raises(SignInRefused):
        accounts.authenticate_app_password(issued.app_password)


def test_an_app_password_belongs_to_its_user_and_can_be_revoked() -> None:
    bob = accounts.create_user("bob@example.com", PASSWORD)
    eve = accounts.create_user("eve@example.com", PASSWORD)
    issued = accounts.create_token(bob, "psql")
    word = issued.app_password
    assert accounts.authenticate_app_password(word, email="bob@example.com") == bob
    assert accounts.authenticate_app_password(f"mzp_{word}") == bob
    assert accounts.tokens(bob)[0].used_at is not None
    assert accounts.tokens(eve) == []
    with pytest.raises(SignInRefused):
        accounts.authenticate_app_password(word, email="eve@example.com")
    with pytest.raises(SignInRefused):
        accounts.authenticate_app_password(PASSWORD, email="bob@example.com")
    with pytest.raises(UnknownItem):
        accounts.revoke_token(eve, issued.token.client_id)
    accounts.revoke_token(bob, issued.token.client_id)
    assert accounts.tokens(bob) == []
    with pytest.raises(SignInRefused):
        accounts.authenticate_app_password(word)
    with pytest.raises(UnknownItem):
        accounts.revoke_token(bob, uuid.uuid4())


def test_no_secret_is_stored() -> None:
    bob = accounts.create_user("bob@example.com", PASSWORD)
    issued = accounts.create_token(bob, "psql")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM catalog_apitoken")
        row = str(cursor.fetchall())
        cursor.execute("SELECT * FROM catalog_user")
        row += str(cursor.fetchall())
    for secret in (str(issued.secret), issued.secret.hex, issued.app_password, PASSWORD):
        assert secret not in row
    assert str(issued.secret) not in repr(issued)
    assert issued.app_password not in repr(issued)


def test_failures_close_the_door_for_that_address_only() -> None:
    bob = accounts.create_user("bob@example.com", PASSWORD)
    issued = accounts.create_token(bob, "psql")
    for _ in range(8):
        with pytest.raises(SignInRefused):
            accounts.authenticate("bob@example.com", "wrong", "10.0.0.1")
    with pytest.raises(TooManyAttempts):
        accounts.authenticate("bob@example.com", PASSWORD, "10.0.0.1")
    assert accounts.authenticate("bob@example.com", PASSWORD, "10.0.0.2") == bob
    word = issued.app_password
    assert accounts.authenticate_app_password(word, email=bob.email, address="10.0.0.1") == bob


def test_a_success_forgets_earlier_failures() -> None:
    accounts.create_user("bob@example.com", PASSWORD)
    for _ in range(3):
        for _ in range(7):
            with pytest.raises(SignInRefused):
                accounts.authenticate("bob@example.com", "wrong", "10.0.0.1")
        assert accounts.authenticate("bob@example.com", PASSWORD, "10.0.0.1")
