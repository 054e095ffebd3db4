"""Description and checks, against a real PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from ingest.contract.types import Type
from ingest.contract.upstream import Check, PostgresTarget, Secret
from ingest.errors import HeadraceError
from ingest.feeds.postgres import check_connection, check_publication, list_references
from tests.services.postgres import Postgres

pytestmark = pytest.mark.postgres

AWKWARD = """
create type mood as enum ('ok', 'it''s');
create type pair as (a int, b text);
create domain posint as int check (value > 0);
create schema "Odd ""Schema";
create table "Odd ""Schema"."a""; drop table x;--" (
    "select" int primary key, "sp ace" mood, d posint, n numeric, m numeric(50, 2), y money,
    p pair, r int4range, l text[], i inet, e mood[], c char(3), v varchar(9), b numeric(12, 2),
    g int generated always as (1) stored);
create table nokey (a int);
create table fullkey (a int); alter table fullkey replica identity full;
create table twice (id int primary key, "A" int, a int);
create table rls (id int primary key); alter table rls enable row level security;
create publication pub for all tables;
create publication hollow;
create publication inserts for table nokey with (publish = 'insert');
create role reader login password 'canary' noreplication;
"""


@pytest.fixture(scope="module")
def target(postgres: Postgres) -> Iterator[PostgresTarget]:
    dsn = postgres.create_database("describe")
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("drop role if exists reader")
        session.execute(AWKWARD)
    yield PostgresTarget(
        postgres.host, postgres.port, "describe", postgres.user, Secret(postgres.password)
    )
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("drop owned by reader; drop role reader")


def one(checks: tuple[Check, ...], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def test_awkward_names_and_types(target: PostgresTarget) -> None:
    found = {reference.name: reference for reference in list_references(target, "pub")}
    odd = found['a"; drop table x;--']
    assert odd.namespace == 'Odd "Schema'
    assert odd.key == ("select",)
    types = {column.name: (column.native, column.text_by_default) for column in odd.columns}
    assert "g" not in types
    assert types["sp ace"] == (None, True)
    assert types["d"] == (Type("integer"), False)
    assert types["n"] == (Type("numeric"), False)
    assert types["m"] == types["y"] == types["p"] == (None, False)
    assert types["r"] == types["i"] == (None, True)
    assert types["l"] == types["e"] == (Type("text", array=True), False)
    assert types["c"] == (Type("character", 3), False)
    assert types["b"] == (Type("numeric", 12, 2), False)


def test_problems_name_their_remedy(target: PostgresTarget) -> None:
    found = {reference.name: reference for reference in list_references(target, "pub")}
    assert not found["fullkey"].problems
    (problem,) = found["nokey"].problems
    assert (problem.name, problem.level) == ("no key", "error")
    assert problem.summary == "referenced items not tables with REPLICA IDENTITY FULL"
    assert problem.upstream_sql == 'ALTER TABLE "public"."nokey" REPLICA IDENTITY FULL'
    assert [check.name for check in found["twice"].problems] == ["column names"]
    reader = replace(target, user="reader", password=Secret("canary"))
    denied = {reference.name: reference for reference in list_references(reader, "pub")}
    names = {check.name for check in denied["rls"].problems}
    assert names == {"privilege", "row level security"}
    assert 'GRANT SELECT ON "public"."rls" TO "reader"' in {
        check.upstream_sql for check in denied["rls"].problems
    }


def test_only_some(target: PostgresTarget) -> None:
    found = list_references(target, "pub", [("public", "nokey"), ("public", "absent")])
    assert [reference.name for reference in found] == ["nokey"]


@pytest.mark.parametrize(
    ("change", "summary"),
    [
        ({"host": "nosuch.invalid"}, 'could not resolve host "nosuch.invalid"'),
        ({"port": 1}, "refused"),
        ({"password": Secret("canary")}, "password authentication failed"),
        ({"database": "absent"}, 'database "absent" does not exist'),
        ({"ssl_mode": "require"}, "TLS with"),
        ({"host": "/var/run"}, "is not a host name"),
    ],
)
def test_unreachable(target: PostgresTarget, change: dict[str, str], summary: str) -> None:
    (check,) = check_connection(replace(target, **change))  # type: ignore[arg-type]
    assert check.level == "error"
    assert summary in check.summary
    assert check.fix
    assert "canary" not in repr(check)
    with pytest.raises(HeadraceError):
        list_references(replace(target, **change), "pub")  # type: ignore[arg-type]


def test_checks_of_a_good_server(target: PostgresTarget) -> None:
    assert {check.level for check in check_connection(target)} == {"ok"}
    assert {check.level for check in check_publication(target, "pub")} == {"ok"}


def test_checks_name_what_is_missing(target: PostgresTarget) -> None:
    reader = replace(target, user="reader", password=Secret("canary"))
    role = one(check_connection(reader), "replication role")
    assert role.upstream_sql == 'ALTER ROLE "reader" REPLICATION'
    absent = one(check_publication(target, "absent"), "publication exists")
    assert absent.level == "error"
    assert "pub" in absent.cause
    assert one(check_publication(target, "hollow"), "publication tables").level == "error"
    partial = one(check_publication(target, "inserts"), "publication operations")
    assert partial.summary == "not published: update, delete, truncate"


def test_two_thousand_tables_are_quick(postgres: Postgres, target: PostgresTarget) -> None:
    dsn = postgres.create_database("describe_many")
    with psycopg.connect(dsn, autocommit=True) as session:
        for number in range(2000):
            name = psycopg.sql.Identifier(f"t{number}")
            session.execute(
                psycopg.sql.SQL(
                    "create table {} (id bigint primary key, a int, b text, c numeric(9,2))"
                ).format(name)
            )
        session.execute("create publication pub for all tables")
    began = time.monotonic()
    found = list_references(replace(target, database="describe_many"), "pub")
    assert len(found) == 2000
    assert time.monotonic() - began < 10
