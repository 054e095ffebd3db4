"""A signed-in owner, a seeded catalog, and a listing of two thousand upstream tables."""

from __future__ import annotations

import datetime as dt

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from catalog import accounts, reads
from catalog.models import Item, SourceReference, TableDetails, User
from catalog.results import Result
from console import execute
from ingest.errors import HeadraceError

PASSWORD = "correct horse battery"
CONNECTION = (
    "CREATE CONNECTION pg TO POSTGRES (HOST '127.0.0.1', PORT 5432, DATABASE 'shop', "
    "USER 'ada', PASSWORD SECRET pw) WITH (VALIDATE = false)"
)


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    cache.clear()


@pytest.fixture
def owner(db: None) -> User:
    """The region's owner."""
    return accounts.create_user("ada@example.com", PASSWORD, owner=True)


@pytest.fixture
def browser(owner: User) -> Client:
    """The owner's browser."""
    client = Client()
    client.force_login(owner)
    return client


def run(user: User, sql: str) -> list[Result]:
    """Run statements; the first error is raised."""
    results: list[Result] = []
    for outcome in execute.run(user, sql):
        if isinstance(outcome, HeadraceError):
            raise outcome
        results.append(outcome)
    return results


@pytest.fixture
def seeded(owner: User) -> User:
    """Secret, connection, a load generator with its tables, and a view."""
    run(owner, "CREATE SECRET pw AS 's3cret-value'")
    run(owner, CONNECTION)
    run(owner, "CREATE SOURCE auction FROM LOAD GENERATOR AUCTION")
    run(
        owner,
        "BEGIN; CREATE TABLE bids FROM SOURCE auction (REFERENCE auction.bids);"
        'CREATE TABLE "Odd ""Name" FROM SOURCE auction (REFERENCE auction.users); COMMIT;',
    )
    run(owner, "CREATE VIEW dear AS SELECT id, amount FROM bids WHERE amount > 90")
    return owner


TYPES = (
    ("id", "bigint", "bigint", False),
    ("email", "citext", None, True),
    ("place", "geometry(Point,4326)", None, False),
)


@pytest.fixture
def many(seeded: User) -> str:
    """The auction source with two thousand references in forty schemas; its id."""
    source = next(row for row in reads.sources() if row.item.name == "auction")
    item = Item.objects.get(gid=source.item.id)
    now = timezone.now()
    SourceReference.objects.filter(source=item).delete()
    rows = [_reference(item, number, now) for number in range(2000)]
    SourceReference.objects.bulk_create(rows)
    item.source.references_updated_at = now
    item.source.save()
    return source.item.id


def make_tables(user: User, count: int) -> None:
    """So many tables, of as many of the two thousand upstream tables."""
    made = (
        f"CREATE TABLE made_{n} FROM SOURCE auction (REFERENCE auction.bids)" for n in range(count)
    )
    if count:
        run(user, f"BEGIN; {'; '.join(made)}; COMMIT")
    for row in TableDetails.objects.filter(item__name__startswith="made_").select_related("item"):
        number = int(row.item.name.removeprefix("made_"))
        row.namespace, row.reference = _upstream_name(number)
        row.save()


def _upstream_name(number: int) -> tuple[str, str]:
    return f"schema_{number // 50:02}", f"table_{number % 50:02}"


def _reference(item: Item, number: int, now: dt.datetime) -> SourceReference:
    hard = number % 50 == 7
    columns = [
        {
            "name": name,
            "position": position,
            "type_name": kind,
            "type_oid": 20,
            "type_modifier": -1,
            "nullable": position > 1,
            "native": native,
            "text_by_default": by_default,
        }
        for position, (name, kind, native, by_default) in enumerate(
            TYPES if hard else TYPES[:2], start=1
        )
    ]
    return SourceReference(
        source=item,
        namespace=_upstream_name(number)[0],
        name=_upstream_name(number)[1],
        identity=20_000 + number,
        columns=columns,
        key=["id"],
        rows=1000,
        bytes=90_000,
        added_at=now,
        updated_at=now,
    )
