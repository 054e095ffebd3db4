"""The inbox endpoint: statuses, limits, durability before the answer."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async

from catalog.session import Session, role_for
from catalog.webhooks.deliveries import latest
from console.api.webhook import Webhooks
from console.api.webhook_intake import Intake
from console.api.webhook_rate import Rates
from ingest.contract.inbox import Accepted
from ingest.contract.plane import Plane
from ingest.errors import Transient
from ingest.feeds.webhooks.inbox import Drain

pytestmark = pytest.mark.django_db(transaction=True)
REGION = "local/embedded"


@pytest.fixture
def inbox(settings: Any, tmp_path: Path) -> Plane:
    """A warehouse of the test's own."""
    settings.HEADRACE_PLANE = Plane("", str(tmp_path))
    return Plane("", str(tmp_path))


async def run(sql: str) -> None:
    def work() -> None:
        role = role_for(REGION, "ada@example.com", superuser=True)
        list(Session(role, REGION).execute(sql))

    await database_sync_to_async(work)()


async def post(
    app: Webhooks,
    name: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> tuple[int, dict[str, Any]]:
    sent: list[Any] = []
    parts = [body[at : at + 60_000] for at in range(0, len(body), 60_000)] or [b""]

    async def receive() -> dict[str, Any]:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    path, _, query = f"/api/webhook/{name}".partition("?")
    given = [(k.encode(), v.encode()) for k, v in (headers or {}).items()]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path}
    scope |= {"raw_path": path.encode(), "query_string": query.encode()}
    await app({**scope, "headers": given}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def kept(plane: Plane, feed: str = "f1") -> list[Accepted]:
    return [one for batch in Drain(plane, feed).waiting({}, 2**40) for one in batch.requests]


async def test_kept_before_the_answer(inbox: Plane) -> None:
    await run("CREATE TABLE hook FROM WEBHOOK BODY FORMAT JSON")
    status, _ = await post(Webhooks(REGION), "headrace/public/hook", b'{"b": 1}')
    assert status == 200
    (one,) = kept(inbox)
    assert one.rows == (('{"b": 1}',),)


async def test_statuses(inbox: Plane, settings: Any) -> None:
    settings.HEADRACE_WEBHOOK_BYTES = 100_000
    await run("CREATE SECRET k AS 'shh'")
    await run(
        "CREATE TABLE signed FROM WEBHOOK BODY FORMAT JSON CHECK (WITH (HEADERS, BODY, SECRET k) "
        "constant_time_eq(headers->'x-sig', encode(hmac(body, k, 'sha256'), 'hex')))"
    )
    app = Webhooks(REGION)
    body = b'{"id": 1}'
    signature = hmac.new(b"shh", body, hashlib.sha256).hexdigest()
    name = "headrace/public/signed"
    assert (await post(app, name, body, {"X-Sig": signature}))[0] == 200
    assert (await post(app, name, b"{}", {"X-Sig": signature}))[0] == 401
    assert (await post(app, name, body))[0] == 401
    broken = hmac.new(b"shh", b"{", hashlib.sha256).hexdigest()
    status, told = await post(app, name, b"{", {"X-Sig": broken})
    assert (status, told["error"]["message"]) == (400, "the body is not JSON")
    assert (await post(app, "headrace/public/nope", body))[0] == 404
    assert (await post(app, "public/signed", body))[0] == 404
    assert (await post(app, name, body, method="GET"))[0] == 405
    assert (await post(app, name, b"x" * 100_001))[0] == 413
    assert (await post(app, name, b"", {"Content-Length": "100001"}))[0] == 413
    assert len(kept(inbox)) == 1
    await asyncio.sleep(1.3)
    deliveries = await database_sync_to_async(latest)(REGION, "u2")
    assert [one.status for one in deliveries] == [413, 413, 400, 401, 401, 200]
    assert deliveries[-1].rows == 1
    assert deliveries[2].reason == "the body is not JSON"


async def test_quoted_names(inbox: Plane) -> None:
    await run('CREATE TABLE "a/b ü" FROM WEBHOOK BODY FORMAT TEXT')
    assert (await post(Webhooks(REGION), "headrace/public/a%2Fb%20%C3%BC", b"x"))[0] == 200


async def test_too_often(inbox: Plane, settings: Any) -> None:
    settings.HEADRACE_WEBHOOK_RATE = 3
    await run("CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT")
    app = Webhooks(REGION)
    statuses = [
        (await one)[0] for one in [post(app, "headrace/public/hook", b"x") for _ in range(5)]
    ]
    assert statuses[:3] == [200, 200, 200]
    assert 429 in statuses


async def test_a_full_disk(inbox: Plane, tmp_path: Path) -> None:
    await run("CREATE TABLE hook FROM WEBHOOK BODY FORMAT TEXT")
    (tmp_path / "feeds").write_text("a file where a folder should be")
    status, told = await post(Webhooks(REGION), "headrace/public/hook", b"x")
    assert status == 503
    assert told["error"]["message"] == "the request could not be kept; send it again"


class Slow:
    """An inbox that notes what it is given together."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.fails = False

    def write(self, requests: list[Accepted]) -> None:
        if self.fails:
            raise Transient("no disk")
        self.batches.append(len(requests))


async def test_many_in_one_batch() -> None:
    slow = Slow()
    intake = Intake(slow)
    one = Accepted(1, (("x",),))
    await asyncio.gather(*(intake.keep(one, 1) for _ in range(200)))
    await asyncio.gather(*(intake.keep(one, 1) for _ in range(50)))
    assert slow.batches == [200, 50]
    slow.fails = True
    with pytest.raises(Transient):
        await intake.keep(one, 1)
    with pytest.raises(Transient):
        await intake.keep(one, 2**40)


def test_rates() -> None:
    now = [0.0]
    rates = Rates(2, lambda: now[0])
    assert [rates.allow("a") for _ in range(3)] == [True, True, False]
    assert rates.allow("b")
    now[0] = 0.5
    assert [rates.allow("a") for _ in range(2)] == [True, False]
