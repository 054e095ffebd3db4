"""Ten thousand items, there and back; `make bench ARGS=migrations` says how long it takes."""

from __future__ import annotations

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


@pytest.mark.faults
@pytest.mark.django_db
def test_ten_thousand_items() -> None:
    large(Corpus.empty(), ITEMS)
    before = dump(REGION)
    assert len(snapshot.current(REGION).entries) >= ITEMS
    make_plan(REGION, "sources to tables", "ada")
    with CaptureQueriesContext(connection) as queries:
        page(REGION, "m1", offset=5000)
    apply(REGION, "m1", "ada")
    assert dump(REGION) != before
    roll_back(REGION, "m1", "ada")
    assert dump(REGION) == before
    assert len(queries) <= 4
