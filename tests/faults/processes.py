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
    """The running processes of a kind."""
    assert product.supervisor is not None
    found = []
    for process in psutil.Process(product.supervisor.pid).children(recursive=True):
        with suppress(psutil.Error):
            is_live = process.status() != psutil.STATUS_ZOMBIE
            words = " ".join(process.cmdline()).split()
            if is_live and any(_is(word, victim) for word in words):
                found.append(process)
    return found


def kill(processes: Sequence[psutil.Process]) -> None:
    """kill -9."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def _is(word: str, victim: str) -> bool:
    wanted = _WORDS[victim]
    ending = {"broker": "/", "spark": "."}.get(victim)
    return word == wanted or (ending is not None and word.endswith(ending + wanted))
