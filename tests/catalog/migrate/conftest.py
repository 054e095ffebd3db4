from __future__ import annotations

import pytest

from catalog import snapshot
from catalog.migrate.plan import Plan
from catalog.migrate.tables import plan_tables
from tests.catalog.migrate.corpus import REGION, Corpus, every_kind


@pytest.fixture
def corpus(db: None) -> Corpus:
    """One of everything there is in the old form."""
    return every_kind(Corpus.empty())


@pytest.fixture
def plan(corpus: Corpus) -> Plan:
    return plan_tables(snapshot.load(REGION)[1])
