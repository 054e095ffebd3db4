"""Ten thousand items: how long a plan, its page, an apply and a rollback take."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog import snapshot
from catalog.migrate.apply import apply
from catalog.migrate.dump import dump
from catalog.migrate.reads import page
from catalog.migrate.rollback import roll_back
from catalog.migrate.store import make_plan
from tests.catalog.migrate.corpus import REGION, Corpus, large

ITEMS = 10_000


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


@pytest.mark.faults
@pytest.mark.django_db
def test_ten_thousand_items() -> None:
    large(Corpus.empty(), ITEMS)
    before = dump(REGION)
    assert len(snapshot.current(REGION).entries) >= ITEMS
    told = {"plan": _seconds(lambda: make_plan(REGION, "sources to tables", "ada"))}
    told["page"] = min(_seconds(lambda: page(REGION, "m1", offset=5000)) for _ in range(3))
    with CaptureQueriesContext(connection) as queries:
        page(REGION, "m1")
    told["apply"] = _seconds(lambda: apply(REGION, "m1", "ada"))
    told["rollback"] = _seconds(lambda: roll_back(REGION, "m1", "ada"))
    print({name: round(seconds, 3) for name, seconds in told.items()})
    assert dump(REGION) == before
    assert told["plan"] < 10
    assert told["page"] < 0.1
    assert len(queries) <= 4
