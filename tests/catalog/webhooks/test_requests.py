"""Requests to rows: bodies, headers, checks, and what is refused."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.plan.checking import compile_check
from catalog.sql.nodes.webhook import BodyFormat, CreateWebhook
from catalog.sql.parse import parse_one
from catalog.webhooks.body import Unreadable, values
from catalog.webhooks.find import Webhook
from catalog.webhooks.judge import Received, Refused, judge
from ingest.contract.inbox import Accepted

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def received(body: bytes, **headers: str) -> Received:
    return Received({k.replace("_", "-"): v.encode() for k, v in headers.items()}, body, NOW)


def webhook(clauses: str, **secrets: str) -> Webhook:
    statement = parse_one(f"CREATE TABLE t FROM WEBHOOK {clauses}").statement
    assert isinstance(statement, CreateWebhook)
    check = compile_check(statement.check) if statement.check else None
    return Webhook("u1", "f1", 9, statement, check, secrets)


@pytest.mark.parametrize(
    ("form", "body", "wanted"),
    [
        ("text", "grüße", ("grüße",)),
        ("text", "", ("",)),
        ("bytes", "\x00\x01a", ("\\x000161",)),
        ("json", '{"b": 1, "a": 2}', ('{"a": 2, "b": 1}',)),
        ("json", '{"bb":1,"c":[1,  {}], "c":[ ]}', ('{"c": [], "bb": 1}',)),
        ("json", '  "x\\u00e9\\n"  ', ('"xé\\n"',)),
        ("json", "1e3", ("1000",)),
        ("json", "1.50", ("1.50",)),
        ("json", "-0.0", ("0.0",)),
        ("json", "123456789012345678901234567890", ("123456789012345678901234567890",)),
        ("json", "[1, 2]", ("[1, 2]",)),
        ("json", '{"a":1}\n{"a":2}\n', ('{"a": 1}', '{"a": 2}')),
        ("json array", "[1, null, {}]", ("1", "null", "{}")),
        ("json array", "[]", ()),
        ("json array", '{"a": true}', ('{"a": true}',)),
    ],
)
def test_bodies(form: BodyFormat, body: str, wanted: tuple[str, ...]) -> None:
    assert values(body.encode(), form) == wanted


@pytest.mark.parametrize(
    ("form", "body", "reason"),
    [
        ("text", b"\xff", "the body is not UTF-8"),
        ("text", b"a\0", "the body has a NUL character"),
        ("json", b"", "the body is empty"),
        ("json", b"{", "the body is not JSON"),
        ("json", b"{}{}", "the body is not JSON"),
        ("json", b"NaN", "the body is not JSON"),
        ("json", b'"\\u0000"', "the body has a NUL character"),
        ("json", b'"\\ud800"', "the body has half of a surrogate pair"),
        ("json", b"1e999999999", "the body has a number that is out of range"),
        ("json", b"[" * 70 + b"]" * 70, "the body is nested deeper than 64"),
        ("json", b"[" * 100_000, "the body is not JSON"),
        ("json array", b"[" * 200_000 + b"]" * 200_000, "the body is not JSON"),
    ],
)
def test_unreadable_bodies(form: BodyFormat, body: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        values(body, form)
    assert str(caught.value) == reason


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
        max_leaves=20,
    )
)
def test_json_keeps_its_meaning(value: object) -> None:
    (written,) = values(json.dumps(value).encode(), "json")
    assert json.loads(written) == value


def test_headers_become_columns() -> None:
    hook = webhook(
        "BODY FORMAT TEXT INCLUDE HEADERS (NOT 'authorization') "
        "INCLUDE HEADER 'x-event' AS event INCLUDE HEADER 'x-raw' AS raw BYTES "
        "INCLUDE HEADER 'x-none' AS none"
    )
    request = received(b"hi", authorization="secret", x_event="paid", x_raw="ab")
    headers = '{"x-raw": "ab", "x-event": "paid"}'
    assert judge(hook, request) == Accepted(9, (("hi", headers, "paid", "\\x6162", None),))


def test_named_headers_only() -> None:
    hook = webhook("BODY FORMAT TEXT INCLUDE HEADERS ('x-a')")
    rows = judge(hook, received(b"", x_a="1", x_b="2")).rows
    assert rows == (("", '{"x-a": "1"}'),)


def test_a_check_that_does_not_hold() -> None:
    hook = webhook("BODY FORMAT TEXT CHECK (WITH (HEADERS, SECRET k) headers->'x' = k)", k="shh")
    assert judge(hook, received(b"a", x="shh")).rows == (("a",),)
    for request in (received(b"a", x="no"), received(b"a")):
        with pytest.raises(Refused) as caught:
            judge(hook, request)
        assert caught.value.status == 401
        assert "shh" not in caught.value.reason


def test_a_check_that_cannot_be_evaluated() -> None:
    hook = webhook("BODY FORMAT TEXT CHECK (WITH (HEADERS) (headers->'x')::int = 1)")
    with pytest.raises(Refused) as caught:
        judge(hook, received(b"a", x="one"))
    assert caught.value.status == 400


def test_the_check_comes_before_the_body() -> None:
    hook = webhook("BODY FORMAT JSON CHECK (WITH (HEADERS) headers->'x' = 'y')")
    with pytest.raises(Refused) as caught:
        judge(hook, received(b"{"))
    assert caught.value.status == 401


def test_secrets_are_not_in_a_repr() -> None:
    hook = webhook("BODY FORMAT TEXT CHECK (WITH (HEADERS, SECRET k) headers->'x' = k)", k="shh")
    assert "shh" not in repr(hook)
