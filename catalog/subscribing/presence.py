"""Tells the roster which subscriptions this process has, for as long as it has any."""

from __future__ import annotations

import datetime as dt
import logging
import os
import socket
import threading
import time
from typing import TYPE_CHECKING

from catalog import roster
from catalog.roster import Subscribed

if TYPE_CHECKING:
    from catalog.subscribing.subscription import Subscription

EVERY = 2.0
_log = logging.getLogger(__name__)
_present: dict[str, dict[str, Subscription]] = {}
_lock = threading.Lock()
_running = False


def enter(region: str, subscription: Subscription) -> None:
    """A subscription begins."""
    global _running
    with _lock:
        _present.setdefault(region, {})[str(subscription.id)] = subscription
        begin, _running = not _running, True
    if begin:
        threading.Thread(target=_run, name="presence", daemon=True).start()


def leave(region: str, subscription: Subscription) -> None:
    """It has ended."""
    with _lock:
        _present.get(region, {}).pop(str(subscription.id), None)


def _run() -> None:
    while threading.main_thread().is_alive():
        with _lock:
            now = {region: list(found.values()) for region, found in _present.items()}
        for region, found in now.items():
            try:
                rows = [_row(one) for one in found]
                roster.tell(region, f"{socket.gethostname()}:{os.getpid()}", rows)
            except Exception:
                _log.warning("subscriptions could not be told of", exc_info=True)
        if _ended():
            return
        time.sleep(EVERY)


def _ended() -> bool:
    global _running
    with _lock:
        if any(_present.values()):
            return False
        _present.clear()
        _running = False
        return True


def _row(one: Subscription) -> Subscribed:
    counts, follower = one.counts, one.follower
    return Subscribed(
        id=str(one.id),
        role=one.role,
        title=one.subject.title,
        items=one.subject.items,
        started_at=dt.datetime.fromtimestamp(counts.started_at, tz=dt.UTC),
        as_of=one.span.as_of,
        told_through=one.told_through,
        lag=max(0, int(time.time() * 1000) - one.told_through),
        rows=counts.rows,
        readers=follower.readers if follower else 1,
        computed=follower.computed if follower else 0,
        own_reads=counts.own_reads,
    )
