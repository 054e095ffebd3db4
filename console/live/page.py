"""Keeps open pages true: on every change it sends the fragments that differ.

The query string names the view and its parameters. The first message carries everything, so that a
reconnect heals itself; later ones only what changed, at most every `PAUSE`. `IDLE` bounds how long
a lost notification can leave a page behind.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import SESSION_KEY

from catalog.errors import UnknownItem
from catalog.here import region_here, within
from catalog.regions import region_named
from console.choosing import PARAMETER, kept_in
from console.fragments.model import Change, View, difference
from console.fragments.views import FOR_OWNERS, VIEWS, Gone, Parameters

GROUPS = ("catalog", "progress")
PAUSE = 0.25
IDLE = 5.0
VOUCHED = 15.0
"""Seconds that a session is believed without asking."""
SIGNED_OUT, NO_SUCH_THING = 4401, 4404
_log = logging.getLogger(__name__)


class PageConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One open page."""

    _sent: View | None = None
    _worker: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Let signed-in people in and start sending."""
        await self.accept()
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self.close(code=SIGNED_OUT)
            return
        query = self.scope["query_string"].decode()
        self._parameters: Parameters = dict(parse_qsl(query))
        if self._parameters.get("view") in FOR_OWNERS and not user.is_superuser:
            await self.close(code=NO_SUCH_THING)
            return
        self._changed = asyncio.Event()
        try:
            self._region = await database_sync_to_async(self._chosen)()
        except Gone:
            await self.close(code=NO_SUCH_THING)
            return
        for group in GROUPS:
            await self.channel_layer.group_add(group, self.channel_name)
        self._vouched = time.monotonic()
        self._worker = asyncio.create_task(self._follow())

    async def disconnect(self, code: int) -> None:
        """Stop sending."""
        if self._worker is not None:
            self._worker.cancel()
            for group in GROUPS:
                await self.channel_layer.group_discard(group, self.channel_name)

    async def catalog_changed(self, event: dict[str, Any]) -> None:
        """Something was created, altered or dropped."""
        self._hear(event)

    async def progress_changed(self, event: dict[str, Any]) -> None:
        """A feed or a table reported."""
        self._hear(event)

    def _hear(self, event: dict[str, Any]) -> None:
        if event.get("region") == self._region or self._parameters.get("view") in FOR_OWNERS:
            self._changed.set()

    def _chosen(self) -> str:
        """The region that the page shows: what its address says, else its session's.

        Raises Gone for one that is not there.
        """
        asked = self._parameters.get(PARAMETER, "") or kept_in(self.scope["session"])
        with suppress(UnknownItem):
            return region_named(asked) if asked else region_here()
        raise Gone

    async def _follow(self) -> None:
        try:
            while True:
                self._changed.clear()
                if not await self._still_signed_in():
                    await self.close(code=SIGNED_OUT)
                    return
                await self._send_changes()
                await asyncio.sleep(PAUSE)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), IDLE)
        except Gone:
            await self.close(code=NO_SUCH_THING)
        except OSError as error:
            _log.debug("a browser left while it was told something: %s", error)
        except Exception:
            _log.exception("a live page failed: %s", self._parameters)
            await self.close(code=1011)

    async def _still_signed_in(self) -> bool:
        """Whether the session that opened the page goes on: it may end in another tab."""
        if time.monotonic() - self._vouched < VOUCHED:
            return True
        self._vouched = time.monotonic()
        key = self.scope["session"].session_key
        return bool(await database_sync_to_async(_session_goes_on)(key))

    async def _send_changes(self) -> None:
        first = self._sent is None
        view, change = await database_sync_to_async(self._redraw)()
        self._sent = view
        if first or change:
            await self.send(json.dumps(asdict(change)))
        else:
            await self.send("{}")

    def _redraw(self) -> tuple[View, Change]:
        draw = VIEWS.get(self._parameters.get("view", ""))
        if draw is None:
            raise Gone
        with within(self._region):
            view = draw(self._parameters)
        return view, difference(self._sent, view)


def _session_goes_on(key: str | None) -> bool:
    store = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return SESSION_KEY in store
