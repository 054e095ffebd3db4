"""What applying a replacement takes in the catalog alone, for views of few and of many rows.

In this process, on a catalog of its own whose data is as far as it has to be: nothing is waited
for, so this is the statement from its text to its commit.
"""

from __future__ import annotations

import statistics
import time

from django.core.management import call_command

from bench.metric import Metric
from bench.views import APPLY
from catalog.models import ViewProgress
from catalog.session import Session, role_for

_REGION = "local/embedded"
_MADE = (
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')",
    "CREATE TABLE bids FROM SOURCE house (REFERENCE bids)",
    "CREATE MATERIALIZED VIEW few_rows AS SELECT id, amount FROM bids",
    "CREATE MATERIALIZED VIEW all_rows AS SELECT id, amount FROM bids",
)
_BETTER = {
    "few_rows": "CREATE REPLACEMENT MATERIALIZED VIEW better FOR few_rows"
    " AS SELECT id, amount + 1 AS amount FROM bids",
    "all_rows": "CREATE REPLACEMENT MATERIALIZED VIEW better FOR all_rows"
    " AS SELECT id, amount + 1 AS amount FROM bids",
}
_SIZES = {"few_rows": 1_000, "all_rows": 10_000_000}
_FAR = 2**45
"""A time (ms) that all the data is said to be complete through; later with every apply."""


def measure(rounds: int) -> list[Metric]:
    """The median of `rounds` applies each, in turn."""
    call_command("migrate", verbosity=0)
    session = Session(role_for(_REGION, "bench@example.com", superuser=True))
    for sql in _MADE:
        _run(session, sql)
    took: dict[str, list[float]] = {name: [] for name in _SIZES}
    for number in range(rounds * len(took)):
        name = list(took)[number % len(took)]
        _run(session, _BETTER[name])
        _settled(_SIZES[name], _FAR + number * 10_000)
        began = time.perf_counter()
        _run(session, APPLY[name])
        took[name].append((time.perf_counter() - began) * 1000)
    few, many = (statistics.median(times) for times in took.values())
    name = "apply in the catalog, a view of 10,000,000 rows"
    return [
        Metric(f"{name}/1,000", many, "ms", "1,000 rows", few, 1.2),
        Metric(name, many, "ms", target=100.0),
    ]


def _run(session: Session, sql: str) -> None:
    for _ in session.execute(sql):
        pass


def _settled(rows: int, through: int) -> None:
    """As if everything were computed through a time (ms), with so many rows."""
    ViewProgress.objects.update(
        hydrated=True, complete_through=through, rows=rows, staged_added=rows
    )
