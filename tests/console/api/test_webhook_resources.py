"""Webhooks over REST: made, listed, shown with their URL, dropped."""

from __future__ import annotations

import pytest

from tests.console.api.conftest import Caller

pytestmark = pytest.mark.django_db
SIGNED = {
    "name": "payments",
    "body_format": "json",
    "headers": ["!authorization"],
    "columns": [{"header": "X-Event", "name": "event"}],
    "check": "WITH (HEADERS, BODY, SECRET key) constant_time_eq(headers->'x-signature', "
    "encode(hmac(body, key, 'sha256'), 'hex'))",
}


def test_from_creation_to_drop(owner: Caller) -> None:
    assert owner.call("post", "/api/secrets", {"name": "key", "value": "shh"})[0] == 201
    status, made = owner.call("post", "/api/webhooks", SIGNED)
    assert status == 201, made
    assert made["sql"] == (
        "CREATE TABLE headrace.public.payments FROM WEBHOOK BODY FORMAT JSON "
        "INCLUDE HEADERS (NOT 'authorization') INCLUDE HEADER 'x-event' AS event "
        "CHECK (WITH (HEADERS, BODY, SECRET key) constant_time_eq(headers -> 'x-signature', "
        "encode(hmac(body, key, 'sha256'), 'hex')))"
    )
    item = made["item"]
    assert item["url"].endswith("/api/webhook/headrace/public/payments")
    assert "openssl dgst -sha256" in item["sample"]
    assert "shh" not in str(made)
    path = f"/api/webhooks/{item['table']['item']['id']}"
    shown = owner.call("get", path)[1]
    assert (shown["checked"], shown["deliveries"]) == (True, [])
    assert owner.call("get", "/api/webhooks")[1]["total"] == 1
    assert owner.call("get", "/api/tables")[1]["total"] == 1
    assert owner.call("get", "/api/sources")[1]["total"] == 0
    assert owner.call("delete", path)[0] == 200
    assert owner.call("get", path)[0] == 404


def test_refused(owner: Caller) -> None:
    body = {"name": "t", "body_format": "json"}
    status, answer = owner.call("post", "/api/webhooks", body | {"check": "nope = 'x'"})
    assert (status, answer["error"]["code"]) == (404, "42703")
    status, answer = owner.call("post", "/api/webhooks", body | {"check": "WITH (BODY) body ="})
    assert (status, answer["error"]["code"]) == (422, "42601")
    assert owner.call("post", "/api/webhooks", {"name": "t", "body_format": "avro"})[0] == 422
    assert owner.call("get", "/api/webhooks/u99")[0] == 404
