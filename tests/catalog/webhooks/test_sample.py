"""The commands that webhooks' pages offer: run for real, they pass the check."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
from pathlib import Path

import pytest

from catalog.plan.checking import compile_check
from catalog.sql.nodes.webhook import CreateWebhook
from catalog.sql.parse import parse_one
from catalog.webhooks.find import Webhook
from catalog.webhooks.judge import Received, judge
from catalog.webhooks.sample import sample

URL = "http://localhost:8000/api/webhook/headrace/public/t"
HEX = "encode(hmac(body, k, 'sha256'), 'hex')"
CHECKS = (
    f"WITH (HEADERS, BODY, SECRET k) constant_time_eq(headers->'x-sig', {HEX})",
    f"WITH (HEADERS AS h, BODY BYTES, SECRET k BYTES) {HEX} = h->'x-sig'",
    f"WITH (HEADERS, BODY, SECRET k) headers->'x-hub-signature-256' = 'sha256=' || {HEX}",
    "WITH (HEADERS, BODY, SECRET s AS k) constant_time_eq(decode(headers->'x-b', 'base64'), "
    "hmac(body, k, 'sha512'))",
    "WITH (HEADERS, BODY, SECRET k) encode(hmac(body, k, 'sha1'), 'base64') = headers->'x-b'",
    "WITH (HEADERS, SECRET k) constant_time_eq(headers->'authorization', k)",
)


def statement(clauses: str) -> CreateWebhook:
    found = parse_one(f"CREATE TABLE t FROM WEBHOOK BODY FORMAT JSON {clauses}").statement
    assert isinstance(found, CreateWebhook)
    return found


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl here")
@pytest.mark.parametrize("check", CHECKS)
def test_it_passes_the_check(check: str, tmp_path: Path) -> None:
    hook = statement(f"CHECK ({check})")
    assert hook.check is not None
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\nfor one in "$@"; do printf "%s\\0" "$one"; done\n')
    curl.chmod(0o755)
    script = sample(hook, URL).replace("SECRET='…'", "SECRET='s h\"h'")
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        check=True,
        text=True,
    )
    url, _, body, *headers = done.stdout.split("\0")[:-1]
    assert url == URL
    pairs = (one.split(": ", 1) for one in headers if one != "--header")
    given = {name: value.encode() for name, value in pairs}
    webhook = Webhook("u1", "f1", 1, hook, compile_check(hook.check), {"k": 's h"h'})
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert judge(webhook, Received(given, body.encode(), now)).rows


def test_without_a_check() -> None:
    assert sample(statement("INCLUDE HEADER 'x-event' AS e"), URL).splitlines() == [
        """BODY='{"id": 1, "event": "hello"}'""",
        f'curl {URL} --data-binary "$BODY" \\',
        "  --header 'content-type: application/json' \\",
        "  --header 'x-event: …'",
    ]


def test_a_check_of_another_shape() -> None:
    text = sample(statement("CHECK (WITH (HEADERS) (headers->'x-time')::bigint > 5)"), URL)
    assert "--header 'x-time: …'" in text
    assert "SECRET" not in text
