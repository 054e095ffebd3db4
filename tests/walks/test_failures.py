"""Every named failure of a statement: one text by SQL, by REST and on the page, remedy and all."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.services import postgres as service
from tests.services import process
from tests.services.postgres import Postgres
from tests.walks.entrances import Entrances, Upstream

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
SHOP = """
    create table items (id int primary key, name text, place box);
    create table keyless (n int);
    create table hidden (id int primary key);
    create publication every for all tables;
    create publication none;
"""
ROLES = """
    drop role if exists no_replication;
    create role no_replication login password 'testing';
    drop role if exists no_select;
    create role no_select login replication password 'testing';
    grant usage on schema public to no_select
"""


@pytest.fixture(scope="module")
def shop(postgres: Postgres) -> Upstream:
    dsn = postgres.create_database("failures")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SHOP)
        connection.execute(ROLES)
    return Upstream(postgres.host, postgres.port, "failures")


@pytest.fixture(scope="module")
def replica_only() -> Iterator[Upstream]:
    """A second server, whose WAL is not logical."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(service._SETTINGS, "wal_level", "replica")
        try:
            with service.running() as server:
                yield Upstream(server.host, server.port, "postgres")
        except LookupError as missing:
            pytest.skip(f"no PostgreSQL here: {missing}")


def connection_fails(entrances: Entrances, upstream: Upstream) -> dict[str, str]:
    text = f"CREATE CONNECTION pg TO POSTGRES ({upstream.options()})"
    return entrances.told(text, "/api/connections", upstream.resource())


def test_wrong_host(entrances: Entrances, shop: Upstream) -> None:
    told = connection_fails(entrances, Upstream("nowhere.invalid", 5432, "shop"))
    assert told["message"] == 'could not resolve host "nowhere.invalid"'
    assert told["code"] == "08001"
    assert "HOST" in told["hint"]


def test_refused_port(entrances: Entrances, shop: Upstream) -> None:
    port = process.free_port()
    told = connection_fails(entrances, Upstream(shop.host, port, shop.database))
    assert told["message"] == f"connection to {shop.host}:{port} refused"
    assert told["code"] == "08001"
    assert told["hint"].startswith("Check HOST and PORT")


def test_wrong_password(entrances: Entrances, shop: Upstream) -> None:
    entrances.sql("ALTER SECRET pw AS 'wrong'")
    told = connection_fails(entrances, shop)
    assert told["message"] == 'password authentication failed for user "postgres"'
    assert told["code"] == "28P01"
    assert "secret" in told["hint"]


def test_unknown_database(entrances: Entrances, shop: Upstream) -> None:
    told = connection_fails(entrances, Upstream(shop.host, shop.port, "nope"))
    assert told["message"] == 'database "nope" does not exist'
    assert told["code"] == "3D000"
    assert "DATABASE" in told["hint"]


def test_missing_replication(entrances: Entrances, shop: Upstream) -> None:
    told = connection_fails(
        entrances, Upstream(shop.host, shop.port, shop.database, "no_replication")
    )
    assert told["message"] == "no_replication may not replicate"
    assert 'ALTER ROLE "no_replication" REPLICATION' in told["hint"]
    assert told["code"] == "42501"


def test_wal_level(entrances: Entrances, replica_only: Upstream) -> None:
    told = connection_fails(entrances, replica_only)
    assert told["message"] == "wal_level is replica"
    assert "ALTER SYSTEM SET wal_level = 'logical'" in told["hint"]
    assert told["code"] == "55000"


def source_fails(entrances: Entrances, shop: Upstream, publication: str) -> dict[str, str]:
    entrances.sql(f"CREATE CONNECTION pg TO POSTGRES ({shop.options()})")
    text = f"CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION '{publication}')"
    body = {
        "name": "s",
        "type": "postgres",
        "connection": {"name": "pg"},
        "publication": publication,
    }
    return entrances.told(text, "/api/sources", body)


def test_no_publication(entrances: Entrances, shop: Upstream) -> None:
    told = source_fails(entrances, shop, "missing")
    assert told["message"] == 'publication "missing" does not exist'
    assert told["detail"] == "There are: every, none."
    assert 'CREATE PUBLICATION "missing" FOR ALL TABLES' in told["hint"]
    assert told["code"] == "42704"


def test_empty_publication(entrances: Entrances, shop: Upstream) -> None:
    told = source_fails(entrances, shop, "none")
    assert told["message"] == 'publication "none" is empty'
    assert 'ALTER PUBLICATION "none" ADD TABLE' in told["hint"]
    assert told["code"] == "55000"


def table_fails(entrances: Entrances, shop: Upstream, name: str) -> dict[str, str]:
    entrances.sql(f"CREATE CONNECTION pg TO POSTGRES ({shop.options()})")
    entrances.sql("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'every')")
    text = f"CREATE TABLE t FROM SOURCE s (REFERENCE public.{name})"
    reference = {"namespace": "public", "name": name}
    body = {"name": "t", "source": {"name": "s"}, "reference": reference}
    return entrances.told(text, "/api/tables", body)


def test_missing_select(entrances: Entrances, shop: Upstream) -> None:
    limited = Upstream(shop.host, shop.port, shop.database, "no_select")
    told = table_fails(entrances, limited, "hidden")
    assert told["message"] == "missing privilege: SELECT on hidden"
    assert 'GRANT SELECT ON "public"."hidden" TO "no_select"' in told["hint"]
    assert told["code"] == "42501"


def test_unsupported_type(entrances: Entrances, shop: Upstream) -> None:
    told = table_fails(entrances, shop, "items")
    assert told["message"] == "referenced tables use unsupported types"
    assert told["detail"] == "Columns: public.items.place (box)"
    assert "TEXT COLUMNS" in told["hint"]
    assert told["code"] == "0A000"


def test_no_replica_identity(entrances: Entrances, shop: Upstream) -> None:
    told = table_fails(entrances, shop, "keyless")
    assert told["message"] == "referenced items not tables with REPLICA IDENTITY FULL"
    assert 'ALTER TABLE "public"."keyless" REPLICA IDENTITY FULL' in told["hint"]
    assert told["code"] == "55000"
