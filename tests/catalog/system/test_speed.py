"""Two thousand tables of twenty columns: loaded at once, then answered from memory."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models.items import Item, ItemColumn
from tests.catalog.system.conftest import WHEN, Maker, rows


@pytest.fixture
def many(maker: Maker) -> None:
    items = Item.objects.bulk_create(
        Item(
            region=maker.region,
            gid=f"u{i}",
            oid=20_000 + i,
            kind="table",
            schema=maker.schema,
            name=f"t{i}",
            owner=maker.role,
            create_sql="x",
            created_at=WHEN,
        )
        for i in range(1, 2001)
    )
    ItemColumn.objects.bulk_create(
        (
            ItemColumn(item=item, position=n, name=f"c{n}", type="text")
            for item in items
            for n in range(1, 21)
        ),
        batch_size=5_000,
    )


def test_reload_and_query(many: None) -> None:
    rows("SELECT 1")
    with CaptureQueriesContext(connection) as queries:
        rows("SELECT count(*) FROM mz_columns, mz_databases")
        rows("SELECT count(*) FROM mz_tables")
    assert len(queries) < 12
    with CaptureQueriesContext(connection) as queries:
        rows("SELECT name, type FROM mz_columns WHERE id = 'u77' ORDER BY position")
    assert len(queries) < 4
