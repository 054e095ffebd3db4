"""Request bodies that are too large, or not what they should be, get a 4xx in the one shape."""

import json

import pytest
from django.test import override_settings

from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/api/sql", "/query"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 422),
        ("{", 400),
        ("\x00", 400),
        ('{"query": NaN}', 400),
        ("[" * 100_000, 400),
        ("null", 422),
        ("[]", 422),
        ("{}", 422),
        ('{"query": 1}', 422),
        ('{"query": null}', 422),
        ('{"query": "SELECT 1", "queries": []}', 422),
        ('{"queries": "SELECT 1"}', 422),
        ('{"queries": [{"params": []}]}', 422),
        ('{"queries": [{"query": "SELECT $1", "params": [1]}]}', 422),
        ('{"queries": [{"query": "SELECT $1", "params": "x"}]}', 422),
    ],
)
def test_malformed(owner: Caller, path: str, body: str, status: int) -> None:
    answer = owner.client.post(path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    assert set(answer.json()["error"]) >= {"message", "code"}


def test_not_utf8(owner: Caller) -> None:
    answer = owner.client.post("/query", b"SELECT '\xff'", content_type="text/plain")
    assert answer.status_code == 400


def test_another_media_type(owner: Caller) -> None:
    answer = owner.client.post("/api/sql", "query=x", content_type="application/xml")
    assert answer.status_code == 415
    assert owner.client.get("/api/sql").status_code == 405


@override_settings(HEADRACE_BODY_LIMIT=100)
def test_too_large(owner: Caller) -> None:
    for path, body, kind in (
        ("/api/sql", json.dumps({"query": "x" * 200}), "application/json"),
        ("/query", "x" * 200, "text/plain"),
        ("/api/secrets", json.dumps({"name": "x" * 200}), "application/json"),
    ):
        assert owner.client.post(path, body, content_type=kind).status_code == 413


@pytest.mark.parametrize("options", ["{", "[]", '{"a": 1}', "null"])
def test_options_are_an_object_of_strings(owner: Caller, options: str) -> None:
    status, body = owner.call("post", f"/api/sql?options={options}", {"query": "SELECT 1"})
    assert status == 422
    assert "options" in body["error"]["invalid"]
