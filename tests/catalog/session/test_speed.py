"""Two thousand tables cost as many questions to the database as two: speed is in their number.

What the clock says is in `bench/`.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog import reads, snapshot
from catalog.models import Item, SourceReference
from catalog.session import Session
from tests.catalog.session.conftest import Run

TABLES = 2000


def test_two_thousand_tables(session: Session, run: Run) -> None:
    run("CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')")
    text = "".join(f"CREATE TABLE t{n} FROM SOURCE house (REFERENCE bids);" for n in range(TABLES))
    assert _queries(lambda: list(session.execute(f"BEGIN; {text} COMMIT"))) < TABLES / 10
    assert Item.objects.count() == TABLES + 1
    assert _queries(lambda: snapshot.load("local/embedded")) < 20
    assert _queries(reads.tables) < 12


def test_two_thousand_references(run: Run) -> None:
    run("CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')")
    row = SourceReference.objects.filter(name="bids").values().get()
    SourceReference.objects.bulk_create(
        SourceReference(**{**row, "id": None, "name": f"r{n}"}) for n in range(TABLES)
    )
    assert _queries(lambda: reads.references("u1")) < 6


def _queries(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        work()
    print(f"{len(queries)} queries")
    return len(queries)
