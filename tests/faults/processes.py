"""The processes that are killed: how to find each, and how to end it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import psutil

from tests.services.product import Product

VICTIMS = ("worker", "feed", "feeds", "views", "spark", "web", "broker", "postgres")
_WORDS = {
    "worker": "worker",
    "feed": "feed",
    "feeds": "feeds",
    "views": "views",
    "web": "uvicorn",
    "broker": "valkey-server",
    "spark": "SparkConnectServer",
}


def find(product: Product, victim: str) -> Sequence[psutil.Process]:
    """The running processes of a kind. A child that has its parent's words is none of them: it is
    on the way to become another program."""
    assert product.supervisor is not None
    found = []
    for process in psutil.Process(product.supervisor.pid).children(recursive=True):
        with suppress(psutil.Error):
            is_live = process.status() != psutil.STATUS_ZOMBIE
            words = " ".join(process.cmdline()).split()
            if is_live and any(_is(word, victim) for word in words):
                found.append(process)
    ids = {process.pid for process in found}
    parents = {process.pid: _parent(process) for process in found}
    return [process for process in found if parents[process.pid] not in ids]


def _parent(process: psutil.Process) -> int:
    """Its parent's id; 0 when it is gone already."""
    with suppress(psutil.Error):
        return int(process.ppid())
    return 0


def kill(processes: Sequence[psutil.Process]) -> None:
    """kill -9."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def _is(word: str, victim: str) -> bool:
    wanted = _WORDS[victim]
    ending = {"broker": "/", "spark": "."}.get(victim)
    return word == wanted or (ending is not None and word.endswith(ending + wanted))
