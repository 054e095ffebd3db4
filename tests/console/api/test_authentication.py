"""Who gets in, with what, and what everybody else is told."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings

from tests.console.api.conftest import PASSWORD, Caller

pytestmark = pytest.mark.django_db

PATHS = [
    "/api/me",
    "/api/tokens",
    "/api/connections",
    "/api/secrets",
    "/api/sources",
    "/api/sources/u1/references",
    "/api/sources/u1/progress",
    "/api/tables",
    "/api/tables/u1",
    "/api/views",
    "/api/audit",
    "/api/feeds",
    "/api/status-history",
]


def basic(email: str, password: str) -> dict[str, str]:
    word = base64.b64encode(f"{email}:{password}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


@pytest.mark.parametrize("path", PATHS)
def test_strangers_are_told_how_to_sign_in(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Basic realm="Headrace"'
    assert answer.json()["error"]["code"] == "28000"
    assert Client().post("/api/sql", "{}", content_type="application/json").status_code == 401
    assert Client().post("/query", "SELECT 1", content_type="text/plain").status_code == 401


def test_a_pages_script_gets_a_challenge_that_opens_no_dialog() -> None:
    answer = Client().get("/api/me", headers={"Sec-Fetch-Mode": "cors"})
    assert answer["WWW-Authenticate"].startswith("Bearer ")


def test_the_ways_in(owner: Caller) -> None:
    word = owner.token.app_password
    for headers in (
        basic(owner.user.email, word),
        basic(owner.user.email.upper(), f"mzp_{word}"),
        basic(owner.user.email, f"{owner.token.token.client_id}:{owner.token.secret}"),
        {"Authorization": f"Bearer {word}"},
        {"Authorization": f"bearer mzp_{word}"},
    ):
        answer = Client(headers=headers).get("/api/me")
        assert answer.status_code == 200
        expected = {"email": "ada@example.com", "role": "ada@example.com", "owner": True}
        assert answer.json() == expected


def test_what_does_not_let_in(owner: Caller, member: Caller) -> None:
    word = owner.token.app_password
    for headers in (
        basic(owner.user.email, PASSWORD),
        basic(member.user.email, word),
        basic("", word),
        basic(owner.user.email, ""),
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {word} {word}"},
        {"Authorization": "Bearer é"},
        {"Authorization": f"Bearer {word[:-3]}AAA"},
        {"Authorization": "Basic !!!"},
        {"Authorization": f"Token {word}"},
    ):
        answer = Client(headers=headers).get("/api/me")
        assert answer.status_code == 401, headers
        assert set(answer.json()["error"]) >= {"message", "code"}
        assert word not in answer.content.decode()


def test_sessions_need_a_csrf_token(owner: Caller) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner.user)
    assert client.get("/api/me").status_code == 200
    body: dict[str, Any] = {"name": "x"}
    refused = client.post("/api/tokens", body, content_type="application/json")
    assert refused.status_code == 403
    assert "csrf" in refused.json()["error"]["message"].lower()
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    headers = {"X-CSRFToken": "a" * 32}
    answer = client.post("/api/tokens", body, content_type="application/json", headers=headers)
    assert answer.status_code == 201


def test_app_passwords_need_no_csrf_token(owner: Caller) -> None:
    client = Client(
        enforce_csrf_checks=True, headers=basic(owner.user.email, owner.token.app_password)
    )
    answer = client.post("/api/tokens", {"name": "x"}, content_type="application/json")
    assert answer.status_code == 201


def test_many_failures_are_refused_for_a_while(owner: Caller) -> None:
    client = Client(headers=basic(owner.user.email, "wrong"))
    assert {client.get("/api/me").status_code for _ in range(8)} == {401}
    answer = client.get("/api/me")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert answer.json()["error"]["code"] == "53400"


@pytest.mark.parametrize(("scope", "path"), [("rest", "/api/me"), ("anonymous", "/api/me")])
def test_calls_are_counted(owner: Caller, scope: str, path: str) -> None:
    framework: dict[str, Any] = settings.REST_FRAMEWORK
    rates = {**framework["DEFAULT_THROTTLE_RATES"], scope: "3/minute"}
    client = owner.client if scope == "rest" else Client()
    with override_settings(REST_FRAMEWORK={**framework, "DEFAULT_THROTTLE_RATES": rates}):
        statuses = [client.get(path).status_code for _ in range(4)]
    assert statuses == ([200, 200, 200, 429] if scope == "rest" else [401] * 4)


def test_other_origins_and_hosts_get_nothing(owner: Caller) -> None:
    answer = owner.client.get("/api/me", headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("Access-Control")]
    assert owner.client.get("/api/me", headers={"Host": "evil.example"}).status_code == 400
