"""Guard rails of a replacement, changed after it was made."""

from __future__ import annotations

import pytest

from catalog.models import AuditEvent, ViewDetails
from catalog.plan.picture import Guard
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run
from tests.catalog.session.replacing import AUCTION, MV, RP, entry

SET = "ALTER MATERIALIZED VIEW r SET "


def test_guard_rails_are_what_the_last_statement_says(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    run(SET + "(APPLY WHEN HYDRATED, MAX ROWS 5, WINDOW '22:00-04:00')")
    assert entry("r").view.guard == Guard(5, None, (1320, 240))
    assert "MAX ROWS = 5" in entry("r").create_sql
    assert ViewDetails.objects.get(item__name="r").guard["rows"] == 5
    last = AuditEvent.objects.order_by("number").last()
    assert last is not None
    assert (last.event, last.object_type) == ("alter", "materialized-view")
    assert last.details["guard_rails"]["rows"] == 5
    run(SET + "(APPLY WHEN HYDRATED, MAX PERCENT 2)")
    assert entry("r").view.guard == Guard(None, 2.0, None)
    run(SET + "()")
    assert entry("r").view.guard is None
    assert "WITH" not in entry("r").create_sql


def test_only_replacements_have_them(run: Run) -> None:
    run(AUCTION)
    run(MV)
    with pytest.raises(HeadraceError) as caught:
        run("ALTER MATERIALIZED VIEW mv SET (APPLY WHEN HYDRATED)")
    assert caught.value.message == "mv is not a replacement"
    run("ALTER MATERIALIZED VIEW IF EXISTS nothing SET (APPLY WHEN HYDRATED)")


def test_a_limit_needs_something_to_limit(run: Run) -> None:
    run(AUCTION)
    run(MV)
    run(RP)
    with pytest.raises(HeadraceError) as caught:
        run(SET + "(MAX ROWS 5)")
    assert "without APPLY WHEN HYDRATED" in caught.value.message
