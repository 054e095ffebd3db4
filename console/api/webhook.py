"""POST /api/webhook/<database>/<schema>/<name>: requests of other systems, kept before 200.

It stands before Django's own handlers: a body is read only as far as it may be long, and a
request that waits for the disk holds no thread.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import Error as DatabaseError
from django.utils.timezone import now

from catalog.errors import UnknownItem
from catalog.names import Path
from catalog.planes import plane_of
from catalog.regions import region_named
from catalog.webhooks.deliveries import Delivery, record
from catalog.webhooks.find import Webhook, find
from catalog.webhooks.judge import Received, Refused, judge
from console.api.webhook_intake import Intake
from console.api.webhook_rate import Rates
from console.choosing import in_query
from ingest import engine
from ingest.contract.inbox import Accepted
from ingest.errors import HeadraceError, Transient

PREFIX = "/api/webhook/"
PATIENCE = 30.0
"""Seconds that a request's body may take to arrive."""
FLUSH = 1.0
"""Seconds between two writings of what was delivered."""
_CODES = {400: "22023", 401: "28000", 404: "42704", 405: "0A000", 413: "54000", 429: "53400"}
_log = logging.getLogger(__name__)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


in_thread = partial(database_sync_to_async, thread_sensitive=False)
"""Work that asks the database, in any thread: requests do not queue behind one another."""


def before(other: App) -> App:
    """An application that takes webhooks' requests, and gives `other` the rest."""
    webhooks = Webhooks()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        mine = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        await (webhooks if mine else other)(scope, receive, send)

    return application


class Webhooks:
    """The application; one per process, in one event loop."""

    def __init__(self, region: str = "") -> None:
        self._region = region or settings.HEADRACE_REGION
        """Whose webhooks an address without a region means."""
        self._writer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._intakes: dict[tuple[str, str], Intake] = {}
        self._rates = Rates(settings.HEADRACE_WEBHOOK_RATE)
        self._delivered: dict[str, list[Delivery]] = {}
        self._flushing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await self._answer(scope, receive)
        except Refused as refused:
            await _send(send, refused.status, refused.reason)
        except (HeadraceError, DatabaseError) as error:
            _log.warning("a webhook's request could not be kept: %s", type(error).__name__)
            await _send(send, 503, "the request could not be kept; send it again")
        else:
            await _send(send, 200, "")

    async def _answer(self, scope: Scope, receive: Receive) -> None:
        if scope["method"] != "POST":
            raise Refused(405, "a webhook takes POST only")
        region, webhook = await self._find(scope)
        size = 0
        try:
            self._pace(region, webhook)
            body = await _body(scope, receive)
            size = len(body)
            accepted = await self._judged(webhook, scope, body)
            await (await self._intake(region, webhook.feed)).keep(accepted, size)
        except Refused as refused:
            self._note(
                region, Delivery(webhook.id, now(), refused.status, size, 0, refused.reason)
            )
            raise
        except Transient as error:
            self._note(region, Delivery(webhook.id, now(), 503, size, reason=error.message))
            raise
        self._note(region, Delivery(webhook.id, now(), 200, size, len(accepted.rows)))

    def _pace(self, region: str, webhook: Webhook) -> None:
        if not self._rates.allow(f"{region} {webhook.id}"):
            raise Refused(429, "too many requests")

    async def _find(self, scope: Scope) -> tuple[str, Webhook]:
        path = _path(scope)
        if path is None:
            raise Refused(404, "no such webhook")
        found: tuple[str, Webhook] = await in_thread(self._found)(
            in_query(scope.get("query_string", b"")), path
        )
        return found

    def _found(self, asked: str, path: Path) -> tuple[str, Webhook]:
        try:
            region = region_named(asked) if asked else self._region
        except UnknownItem as error:
            raise Refused(404, error.message) from error
        webhook = find(region, path)
        if webhook is None:
            raise Refused(404, "no such webhook")
        return region, webhook

    async def _judged(self, webhook: Webhook, scope: Scope, body: bytes) -> Accepted:
        received = Received(_headers(scope), body, now())
        return await asyncio.to_thread(judge, webhook, received)

    async def _intake(self, region: str, feed: str) -> Intake:
        if (region, feed) not in self._intakes:
            plane = await in_thread(plane_of)(region)
            intake = Intake(engine.open_inbox(plane, feed, self._writer))
            return self._intakes.setdefault((region, feed), intake)
        return self._intakes[region, feed]

    def _note(self, region: str, delivery: Delivery) -> None:
        self._delivered.setdefault(region, []).append(delivery)
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        try:
            await asyncio.sleep(FLUSH)
            delivered, self._delivered = self._delivered, {}
            for region, those in delivered.items():
                await in_thread(record)(region, those)
        except DatabaseError:
            _log.warning("deliveries to webhooks could not be noted")
        finally:
            self._flushing = None


def _path(scope: Scope) -> Path | None:
    raw = scope.get("raw_path") or scope["path"].encode()
    parts = raw.decode("latin-1").partition("?")[0].removeprefix(PREFIX).split("/")
    if len(parts) != 3:
        return None
    database, schema, name = (unquote(part) for part in parts)
    return database, schema, name


def _headers(scope: Scope) -> dict[str, bytes]:
    """Headers by lower-case name; several of one name are joined with commas, as HTTP says."""
    found: dict[str, bytes] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        found[key] = found[key] + b", " + value if key in found else value
    return found


async def _body(scope: Scope, receive: Receive) -> bytes:
    """The whole body. Raises Refused when it is too long or does not arrive."""
    limit = settings.HEADRACE_WEBHOOK_BYTES
    declared = _headers(scope).get("content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise Refused(413, f"the body is longer than {limit} bytes")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the body did not arrive")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    raise Refused(413, f"the body is longer than {limit} bytes")
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(400, "the body did not arrive") from None


async def _send(send: Send, status: int, reason: str) -> None:
    body = b"{}"
    if reason:
        told = {"message": reason, "code": _CODES.get(status, "08006")}
        body = json.dumps({"error": told}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if status in {429, 503}:
        headers.append((b"retry-after", b"1"))
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
