"""The caller's tokens over REST."""

import pytest
from django.test import Client

from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_works_until_it_is_revoked(owner: Caller) -> None:
    answer = owner.client.post("/api/tokens", {"name": "dbt"}, content_type="application/json")
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    issued = answer.json()
    fresh = Client(headers={"Authorization": f"Bearer {issued['app_password']}"})
    assert fresh.get("/api/me").status_code == 200
    listing = owner.client.get("/api/tokens")
    assert [token["name"] for token in listing.json()["items"]] == ["dbt", "tests"]
    assert issued["secret"] not in listing.content.decode()
    path = f"/api/tokens/{issued['token']['client_id']}"
    assert owner.call("delete", path) == (204, None)
    assert fresh.get("/api/me").status_code == 401
    assert owner.call("delete", path)[0] == 404


def test_tokens_belong_to_their_user(owner: Caller, member: Caller) -> None:
    path = f"/api/tokens/{owner.token.token.client_id}"
    assert member.call("delete", path)[0] == 404
    assert len(member.call("get", "/api/tokens")[1]["items"]) == 1
    assert owner.call("get", "/api/me")[0] == 200


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "x" * 201}, {"name": None}, []])
def test_a_token_needs_a_name(owner: Caller, body: object) -> None:
    status, answer = owner.call("post", "/api/tokens", body)
    assert status == 422
    assert answer["error"]["invalid"]
