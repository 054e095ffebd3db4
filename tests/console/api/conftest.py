"""Users, their tokens, and clients that show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from catalog import accounts
from catalog.accounts import IssuedToken
from catalog.models import User

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Caller:
    """A user with a client that shows an app-specific password, and answers read as JSON."""

    user: User
    token: IssuedToken
    client: Client

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON body of one request."""
        send = getattr(self.client, method)
        if method in {"get", "delete"}:
            answer = send(path)
        else:
            answer = send(path, body, content_type="application/json")
        return answer.status_code, answer.json() if answer.content else None

    def sql(self, query: str) -> list[dict[str, Any]]:
        """The results of statements over /api/sql."""
        status, body = self.call("post", "/api/sql", {"query": query})
        assert status == 200, body
        results: list[dict[str, Any]] = body["results"]
        return results


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    cache.clear()


@pytest.fixture
def caller(db: None) -> Callable[..., Caller]:
    """Makes callers."""

    def make(email: str, *, owner: bool = False) -> Caller:
        user = accounts.create_user(email, PASSWORD, owner=owner)
        token = accounts.create_token(user, "tests")
        headers = {"Authorization": f"Bearer {token.app_password}"}
        return Caller(user, token, Client(headers=headers))

    return make


@pytest.fixture
def owner(caller: Callable[..., Caller]) -> Caller:
    """The region's owner."""
    return caller("ada@example.com", owner=True)


@pytest.fixture
def member(caller: Callable[..., Caller]) -> Caller:
    """Somebody with no grants."""
    return caller("bob@example.com")
