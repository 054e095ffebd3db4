"""A catalog with one source, three tables, a view and history, in a region of its own."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
import sqlglot

from catalog.models.connections import ConnectionDetails
from catalog.models.feeds import ExportProgress, Feed, FeedProgress
from catalog.models.history import AuditEvent, StatusHistory
from catalog.models.items import Dependency, Item, ItemColumn
from catalog.models.namespaces import Database, Region, Role, Schema
from catalog.models.sources import SourceDetails, SourceReference
from catalog.models.tables import TableDetails
from catalog.system.run import Session, run
from ingest.contract.reports import ResultSet

WHEN = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
REGION = "test/system"
INSTALLATION = uuid.UUID(int=900)  # one for all tests: its DuckDB is made once, read by stamp
TEXTS = {
    "secret": "CREATE SECRET headrace.public.pw AS '***'",
    "connection": "CREATE CONNECTION headrace.public.pg TO POSTGRES (HOST = 'db')",
    "source": "CREATE SOURCE headrace.public.shop FROM POSTGRES CONNECTION pg",
    "view": "CREATE VIEW headrace.public.big AS SELECT id FROM headrace.public.bids",
}


def ask(sql: str) -> ResultSet:
    """A query's rows."""
    session = Session("headrace", "public", "ada@example.com", 42)
    return run(sqlglot.parse_one(sql, read="postgres"), REGION, session)


def rows(sql: str) -> list[tuple[Any, ...]]:
    """A query's rows as tuples."""
    table = ask(sql).data
    return list(zip(*[column.to_pylist() for column in table.columns], strict=True))


class Maker:
    """Makes items with ids and OIDs in order."""

    def __init__(self, region: Region, role: Role, schema: Schema) -> None:
        self.region, self.role, self.schema, self.next = region, role, schema, 1

    def item(self, kind: str, name: str, **columns: str) -> Item:
        """An item with its columns by name and type."""
        item = Item.objects.create(
            region=self.region,
            gid=f"u{self.next}",
            oid=20_000 + self.next,
            kind=kind,
            schema=self.schema,
            name=name,
            owner=self.role,
            create_sql=TEXTS.get(kind, f"CREATE TABLE {name} (x) -- it's"),
            created_at=WHEN,
        )
        self.next += 1
        ItemColumn.objects.bulk_create(
            ItemColumn(item=item, position=i, name=n, type=t, nullable=i > 1)
            for i, (n, t) in enumerate(columns.items(), 1)
        )
        return item


@pytest.fixture
def maker(db: None) -> Maker:
    region = Region.objects.create(pk=900, name=REGION, revision=1, installation=INSTALLATION)
    role = Role.objects.create(region=region, gid="u1", oid=19_001, name="ada@example.com")
    database = Database.objects.create(
        region=region, gid="u1", oid=19_002, name="headrace", owner=role
    )
    schema = Schema.objects.create(
        database=database, gid="u2", oid=19_003, name="public", owner=role
    )
    return Maker(region, role, schema)


@pytest.fixture
def seeded(maker: Maker) -> Maker:
    maker.item("secret", "pw")
    connection = maker.item("connection", "pg")
    ConnectionDetails.objects.create(item=connection, type="postgres")
    feed = Feed.objects.create(
        region=maker.region, gid="f1", kind="postgres", identity="postgres://db", slot="hr_1"
    )
    source = maker.item("source", "shop", lsn="uint8")
    SourceDetails.objects.create(
        item=source, type="postgres", connection=connection, feed=feed, publication="p"
    )
    FeedProgress.objects.create(
        feed=feed, status="running", complete_through=99, messages=7, bytes=70, changed_at=WHEN
    )
    bids = maker.item("table", "bids", id="integer", amount="numeric(10,2)", tags="text[]")
    TableDetails.objects.create(item=bids, source=source, namespace="public", reference="bids")
    ExportProgress.objects.create(
        item=bids,
        status="stalled",
        error="no room",
        hint="Make room.",
        changed_at=WHEN,
        rows_known=10,
        rows_staged=4,
    )
    TableDetails.objects.create(item=maker.item("table", "notes", body="text"))
    view = maker.item("view", "big", id="integer")
    Dependency.objects.create(item=view, needs=bids)
    SourceReference.objects.create(
        source=source,
        namespace="public",
        name="bids",
        columns=[
            {"name": "id", "position": 1, "type_name": "integer", "nullable": False},
            {"name": "amount", "position": 2, "type_name": "numeric(10,2)", "nullable": True},
        ],
        key=["id"],
        added_at=WHEN,
        updated_at=WHEN,
    )
    AuditEvent.objects.create(
        region=maker.region,
        number=1,
        event="create",
        object_type="table",
        details={"id": "u4"},
        user="ada@example.com",
        occurred_at=WHEN,
    )
    StatusHistory.objects.create(
        region=maker.region, object_id="u4", status="stalled", error="no room", occurred_at=WHEN
    )
    return maker
