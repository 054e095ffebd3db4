"""The catalog's two signals, told to every open page and to the worker.

Senders only note what changed; one thread per process sends, at most four times a second.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from console.celery import app

PAUSE = 0.25
_log = logging.getLogger(__name__)


def wake(**_: Any) -> None:
    """Make the worker reconcile soon; a lost wake is made good by the beat."""
    try:
        app.send_task("console.worker.reconcile", expires=5, retry=False)
    except Exception:
        _log.warning("the worker could not be woken", exc_info=True)


class Broadcaster:
    """Collects changes and sends each group one message for many of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._catalog: dict[str, tuple[int, set[str]]] = {}
        self._progress: dict[str, set[str]] = {}
        self._thread: threading.Thread | None = None

    def committed(self, *, region: str, revision: int, ids: tuple[str, ...], **_: Any) -> None:
        """Take in `catalog.signals.committed`."""
        with self._lock:
            known = self._catalog.get(region, (0, set()))[1]
            self._catalog[region] = (revision, known | set(ids))
        self._start()

    def reported(self, *, region: str, ids: tuple[str, ...], **_: Any) -> None:
        """Take in `catalog.signals.reported`."""
        with self._lock:
            self._progress.setdefault(region, set()).update(ids)
        self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="broadcast", daemon=True)
                self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        pause = threading.Event()
        while threading.main_thread().is_alive():
            self._wake.wait(1.0)
            self._wake.clear()
            try:
                self._send()
            except Exception:
                _log.warning("pages could not be told of a change", exc_info=True)
            pause.wait(PAUSE)

    def _send(self) -> None:
        with self._lock:
            changed, self._catalog = self._catalog, {}
            reported, self._progress = self._progress, {}
        layer = get_channel_layer()
        if layer is None or not threading.main_thread().is_alive():
            return
        for region, (revision, ids) in changed.items():
            message = {"region": region, "revision": revision, "ids": sorted(ids)}
            async_to_sync(layer.group_send)("catalog", {"type": "catalog.changed", **message})
        for region, moved in reported.items():
            message = {"region": region, "ids": sorted(moved)}
            async_to_sync(layer.group_send)("progress", {"type": "progress.changed", **message})


broadcaster = Broadcaster()
