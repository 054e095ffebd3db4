"""Checks of webhooks: what they compute, and what is refused when a webhook is made."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
from typing import Any

import pytest

from catalog.errors import StatementError
from catalog.plan.checking import Unfit, compile_check
from catalog.sql.nodes.webhook import CreateWebhook
from catalog.sql.parse import parse_one

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
EPOCH = int(NOW.timestamp())
INPUTS = "BODY, BODY AS raw BYTES, HEADERS, HEADERS AS bh BYTES, SECRET s, SECRET s AS key BYTES"
BODY = '{"id": 7, "kind": "paid", "deep": {"a": [1, true]}}'
HEADERS = {
    "x-sig": hmac.new(b"shh", BODY.encode(), hashlib.sha256).hexdigest(),
    "stripe": f"t={EPOCH},v1=abc",
    "x-time": str(EPOCH - 60),
    "x-old": str(EPOCH - 3600),
    "b64": "aGVsbG8=",
}
VALUES: dict[str, Any] = {
    "body": BODY,
    "raw": BODY.encode(),
    "headers": HEADERS,
    "bh": {name: value.encode() for name, value in HEADERS.items()},
    "s": "shh",
    "key": b"shh",
}


def check(expression: str, inputs: str = INPUTS) -> bool | None:
    text = f"CREATE TABLE t FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH ({inputs}) {expression})"
    statement = parse_one(text).statement
    assert isinstance(statement, CreateWebhook)
    assert statement.check is not None
    return compile_check(statement.check).run(VALUES, NOW)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("constant_time_eq(headers->'x-sig', encode(hmac(body, s, 'sha256'), 'hex'))", True),
        ("constant_time_eq(decode(headers->'x-sig', 'hex'), hmac(raw, key, 'sha256'))", True),
        ("constant_time_eq(headers->'x-sig', encode(hmac(body, 'no', 'sha256'), 'hex'))", False),
        ("headers->'x-sig' = 'v0=' || s", False),
        ("headers->'missing' = 'x'", None),
        ("headers->'missing' IS NULL AND s IS NOT NULL", True),
        ("headers->'missing' = 'x' OR true", True),
        ("NOT headers ? 'missing' AND headers ? 'x-sig'", True),
        (
            "split_part(split_part(headers->'stripe', 't=', 2), ',', 1)::bigint = " + str(EPOCH),
            True,
        ),
        ("to_timestamp((headers->'x-time')::bigint) > now() - INTERVAL '5 minutes'", True),
        ("to_timestamp((headers->'x-old')::bigint) > now() - INTERVAL '5 minutes'", False),
        ("abs(extract(epoch FROM now()) - (headers->'x-time')::numeric) <= 300", True),
        (
            "to_timestamp((headers->'x-time')::bigint) BETWEEN now() - INTERVAL '00:05' AND now()",
            True,
        ),
        ("convert_from(decode(headers->'b64', 'base64'), 'utf8') = 'hello'", True),
        ("(body::jsonb)->>'kind' IN ('paid', 'sent') AND (body::jsonb->'id')::int = 7", True),
        ("body::jsonb->'deep'->'a'->>0 = '1'", True),
        ("body LIKE '%paid%' AND body NOT LIKE 'x_' AND 'PAID' ILIKE 'p%'", True),
        ("bh->'x-sig' = convert_to(headers->'x-sig', 'utf8')", True),
        ("concat('v0:', headers->'missing', ':', s) = 'v0::shh'", True),
        ("coalesce(headers->'missing', 'none') = 'none' AND nullif(s, 'shh') IS NULL", True),
        ("md5(s) = '" + hashlib.md5(b"shh").hexdigest() + "'", True),
        ("digest(s, 'sha512') = sha512(key)", True),
        ("left(s, 2) || right(s, 1) = 'shh' AND substring(s, 2, 2) = 'hh'", True),
        ("lower(upper(s)) = s AND length(s) = 3 AND octet_length(raw) > 10", True),
        ("replace(s, 'h', 'x') = 'sxx' AND starts_with(s, 'sh') AND strpos(s, 'h') = 2", True),
        ("1 + 2 * 3 = 7 AND -1 < 0 AND (1.5::numeric < 2) IS TRUE AND s = s", True),
    ],
)
def test_computed(expression: str, wanted: object) -> None:
    assert check(expression) is wanted


@pytest.mark.parametrize(
    ("expression", "message", "sqlstate"),
    [
        ("nope = 'x'", 'column "nope" does not exist', "42703"),
        ("hmack(body, s, 'sha256') = raw", 'function "hmack" does not exist in CHECK', "42883"),
        (
            "constant_time_eq(s, raw)",
            "constant_time_eq(text, bytea) does not exist in CHECK",
            "42883",
        ),
        ("s", "expected CHECK expression to have type boolean, found text", "42804"),
        ("true", "expression provided in CHECK does not reference any columns", "22023"),
        ("s AND true", "argument of AND must be type boolean, not type text", "42804"),
        ("headers::text = 'x'", "CHECK does not support casting map to text", "42846"),
        ("s::uuid = s", "CHECK does not support casting text to uuid", "42846"),
        ("now() - INTERVAL '5 moons' < now()", "invalid input syntax for type interval", "22007"),
    ],
)
def test_refused(expression: str, message: str, sqlstate: str) -> None:
    with pytest.raises(StatementError) as caught:
        check(expression)
    assert (caught.value.message, caught.value.sqlstate) == (message, sqlstate)


@pytest.mark.parametrize(
    "expression",
    [
        "(headers->'x-sig')::bigint > 1",
        "decode(body, 'base64') = raw",
        "(headers->'stripe')::jsonb ? 'x'",
        "split_part(s, ',', 0) = 'x'",
        "hmac(body, s, 'sha3000') = raw",
        "1 / (length(s) - 3) = 1",
        "s::timestamptz < now()",
        "to_timestamp((headers->'x-time')::bigint * 1e30) < now()",
    ],
)
def test_values_that_do_not_fit(expression: str) -> None:
    with pytest.raises(Unfit):
        check(expression)


def test_two_inputs_of_one_name() -> None:
    with pytest.raises(StatementError, match="specified more than once"):
        check("body = 'x'", "BODY, HEADERS AS body")


def test_depth_is_bounded() -> None:
    with pytest.raises(StatementError, match="nested too deeply"):
        check("(" * 500 + "s = s" + ")" * 500)


def test_patterns_end() -> None:
    """A pattern of many wildcards does not run for ever."""
    assert check("body LIKE '%a%a%a%a%a%a%a%a%zz'") is False
