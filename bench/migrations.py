"""Ten thousand items in the older form: what a plan, its pages, apply and rollback take.

In this process, on a catalog of its own; a page's time is what the server takes to make it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

from django.core.management import call_command
from django.test import Client

from bench.metric import Metric
from catalog import accounts
from catalog.migrate.apply import apply
from catalog.migrate.rollback import roll_back
from catalog.migrate.store import make_plan
from tests.catalog.migrate.corpus import REGION, Corpus, large

ITEMS = 10_000
_TABS = ("overview", "steps", "ids", "dependents", "events")
_WHO = "bench@example.com"
_PLAN = "m1"


def measure() -> list[Metric]:
    """Each once; a page's time is the median of nine."""
    call_command("migrate", verbosity=0)
    large(Corpus.empty(), ITEMS)
    planned = _seconds(lambda: make_plan(REGION, "sources to tables", _WHO))
    browser = Client(SERVER_NAME="127.0.0.1")
    browser.force_login(accounts.create_user(_WHO, "a long enough password", owner=True))
    found = [Metric("migration of 10,000 items, plan", planned, "s", target=10)]
    for tab in _TABS:
        address = f"/migrations/{REGION}/{_PLAN}?tab={tab}"
        name = f"migration of 10,000 items, page {tab}"
        found.append(Metric(name, _median(browser, address), "ms", target=100))
    for name, act in (("apply", apply), ("rollback", roll_back)):
        took = _seconds(partial(act, REGION, _PLAN, _WHO))
        found.append(Metric(f"migration of 10,000 items, {name}", took, "s", target=10))
    return found


def _median(browser: Client, address: str) -> float:
    times = []
    for _ in range(9):
        began = time.perf_counter()
        answer = browser.get(address)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, address
    return statistics.median(times)


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
