"""A view over an auction, a replacement for it, and the way to apply it without a maintainer."""

from __future__ import annotations

from catalog import snapshot
from catalog.models import AuditEvent, ViewProgress
from catalog.plan.picture import Entry
from tests.catalog.session.conftest import Run

AUCTION = """
    CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s');
    CREATE TABLE bids FROM SOURCE house (REFERENCE bids);
    CREATE TABLE auctions FROM SOURCE house (REFERENCE auctions);
"""
MV = "CREATE MATERIALIZED VIEW mv AS SELECT id, amount FROM bids"
RP = "CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, amount + 1 AS amount FROM bids"
APPLY = "ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT r"


def entry(name: str) -> Entry:
    picture = snapshot.current("local/embedded")
    return next(entry for entry in picture.entries.values() if entry.name == name)


def events() -> list[tuple[str, str, dict[str, object]]]:
    rows = AuditEvent.objects.order_by("number")
    return list(rows.values_list("event", "object_type", "details"))


def apply(run: Run, sql: str = APPLY) -> None:
    """As if the maintainer had computed everything."""
    ViewProgress.objects.update(hydrated=True)
    run(sql)


def applied(run: Run) -> Entry:
    run(AUCTION)
    run(MV)
    run("COMMENT ON MATERIALIZED VIEW mv IS 'prices'")
    run("COMMENT ON COLUMN mv.amount IS 'cents'")
    run("CREATE VIEW v AS SELECT * FROM mv")
    run(
        "CREATE REPLACEMENT r FOR MATERIALIZED VIEW mv AS SELECT id, amount, item AS thing "
        "FROM bids JOIN auctions USING (id)"
    )
    run("COMMENT ON MATERIALIZED VIEW r IS 'better'")
    before = entry("mv")
    ViewProgress.objects.filter(shard=before.shard).update(hydrated=True, complete_through=500)
    ViewProgress.objects.filter(shard=entry("r").shard).update(
        hydrated=True, complete_through=500, staged_added=3
    )
    run(APPLY)
    return before
