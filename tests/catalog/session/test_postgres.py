"""Purification against a real PostgreSQL: connections, publications, references."""

from __future__ import annotations

import time

import psycopg
import pytest

from catalog.errors import InvalidStatement, UpstreamProblem
from catalog.models import Item, ReferenceDrift, SourceReference, TableDetails
from catalog.session import Session
from ingest import engine
from ingest.errors import HeadraceError
from tests.catalog.session.conftest import Run, rows_of
from tests.services.postgres import Postgres

pytestmark = pytest.mark.postgres

SCHEMA = """
    create table orders (id int primary key, note text, price numeric(10,2), box box);
    create schema other;
    create table other.orders (id int primary key);
    create publication everything for all tables;
    create publication nothing;
"""


@pytest.fixture
def upstream(postgres: Postgres, request: pytest.FixtureRequest, run: Run) -> Postgres:
    """A database of its own with a connection `pg` to it."""
    name = f"core_{abs(hash(request.node.name)) % 10**8}"
    dsn = postgres.create_database(name)
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(SCHEMA)
    run(f"CREATE SECRET pw AS '{postgres.password}'")
    run(
        f"CREATE CONNECTION pg TO POSTGRES (HOST '{postgres.host}', PORT {postgres.port}, "
        f"DATABASE '{name}', USER '{postgres.user}', PASSWORD SECRET pw)"
    )
    return postgres


def test_validation_tells_what_is_wrong(upstream: Postgres, run: Run) -> None:
    rows = rows_of(run("VALIDATE CONNECTION pg")[0])
    assert {row[1] for row in rows} <= {"ok", "warning"}
    with pytest.raises(HeadraceError) as caught:
        run(
            f"CREATE SECRET wrong AS 'wrong'; CREATE CONNECTION bad TO POSTGRES "
            f"(HOST '{upstream.host}', PORT {upstream.port}, DATABASE 'nope', "
            f"USER '{upstream.user}', PASSWORD SECRET wrong)"
        )
    assert isinstance(caught.value, UpstreamProblem)
    assert caught.value.checks
    assert "wrong" not in caught.value.message
    run(
        "CREATE CONNECTION bad TO POSTGRES (HOST '127.0.0.1', PORT 1, DATABASE 'd', USER 'u') "
        "WITH (VALIDATE = false)"
    )


def test_publications(upstream: Postgres, run: Run) -> None:
    with pytest.raises(UpstreamProblem):
        run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'missing')")
    with pytest.raises(UpstreamProblem):
        run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'nothing')")
    run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    assert SourceReference.objects.count() == 2


def test_two_sources_share_one_feed(upstream: Postgres, run: Run) -> None:
    run("CREATE SOURCE a FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    run("CREATE SOURCE b FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    from catalog.models import Feed

    feed = Feed.objects.get()
    run("DROP SOURCE a")
    feed.refresh_from_db()
    assert feed.desired == "running"
    run("DROP SOURCE b; DROP CONNECTION pg; DROP SECRET pw")
    feed.refresh_from_db()
    assert feed.desired == "dropped"
    assert upstream.password not in str(feed.definition)


def test_references(upstream: Postgres, run: Run) -> None:
    run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    with pytest.raises(InvalidStatement, match="reference orders is ambiguous"):
        run("CREATE TABLE t FROM SOURCE s (REFERENCE orders)")
    with pytest.raises(HeadraceError, match="reference nope not found in source"):
        run("CREATE TABLE t FROM SOURCE s (REFERENCE nope)")
    with pytest.raises(InvalidStatement) as caught:
        run("CREATE TABLE t FROM SOURCE s (REFERENCE public.orders)")
    assert caught.value.message == "referenced tables use unsupported types"
    assert caught.value.detail == "Columns: public.orders.box (box)"
    run("CREATE TABLE t FROM SOURCE s (REFERENCE public.orders) WITH (EXCLUDE COLUMNS (box))")
    run("CREATE TABLE u FROM SOURCE s (REFERENCE public.orders) WITH (TEXT COLUMNS (box))")
    details = TableDetails.objects.get(item__name="t")
    assert details.identity > 0
    assert details.key == ["id"]
    assert [column["name"] for column in details.export_columns] == ["id", "note", "price"]


def test_refresh_keeps_drift(upstream: Postgres, run: Run) -> None:
    run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    database = Item.objects.get(name="pg").connection.options["database"]
    with psycopg.connect(upstream.dsn_of(database), autocommit=True) as session:
        session.execute("alter table orders add column more int; create table fresh (id int)")
    run("ALTER SOURCE s REFRESH REFERENCES")
    events = ReferenceDrift.objects.order_by("pk").values_list("name", "event", "column")
    assert set(events) == {("orders", "column added", "more"), ("fresh", "added", "")}


def test_a_batch_asks_upstream_once(
    upstream: Postgres, session: Session, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'everything')")
    asked: list[int] = []
    listing = engine.list_references

    def counted(*arguments: object) -> object:
        asked.append(1)
        return listing(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "list_references", counted)
    tables = "".join(
        f"CREATE TABLE t{n} FROM SOURCE s (REFERENCE other.orders);" for n in range(500)
    )
    started = time.monotonic()
    list(session.execute(f"BEGIN; {tables} COMMIT"))
    assert time.monotonic() - started < 20
    assert len(asked) == 1
    assert Item.objects.filter(kind="table").count() == 500
