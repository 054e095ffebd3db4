"""Two thousand tables: one commit, one picture, quick lists; limits suit slow machines."""

from __future__ import annotations

import time

from catalog import reads, snapshot
from catalog.models import Item, SourceReference
from catalog.session import Session
from tests.catalog.session.conftest import Run

TABLES = 2000


def test_two_thousand_tables(session: Session, run: Run) -> None:
    run("CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')")
    text = "".join(f"CREATE TABLE t{n} FROM SOURCE house (REFERENCE bids);" for n in range(TABLES))
    assert _seconds(lambda: list(session.execute(f"BEGIN; {text} COMMIT"))) < 30
    assert Item.objects.count() == TABLES + 1
    assert _seconds(lambda: snapshot.load("local/embedded")) < 2
    assert _seconds(reads.tables) < 3


def test_two_thousand_references(run: Run) -> None:
    run("CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')")
    row = SourceReference.objects.filter(name="bids").values().get()
    SourceReference.objects.bulk_create(
        SourceReference(**{**row, "id": None, "name": f"r{n}"}) for n in range(TABLES)
    )
    assert _seconds(lambda: reads.references("u1")) < 0.5


def _seconds(work: object) -> float:
    started = time.perf_counter()
    assert callable(work)
    work()
    took = time.perf_counter() - started
    print(f"{took:.3f} s")
    return took
