"""The same statement by every entrance leaves the same catalog.

Each walk makes the same source and tables in a catalog of its own; then the dumps of the system
catalog, without ids and times, are compared.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import transaction
from django.test import Client

from catalog import accounts, reads
from catalog.models import User
from catalog.text_values import text_rows
from console.execute import run
from ingest.contract.plane import Plane
from ingest.errors import HeadraceError
from tests.services.postgres import Postgres

Dump = dict[str, list[tuple[str | None, ...]]]
Call = tuple[str, dict[str, Any]]

QUERIES = {
    "objects": "SELECT name, type FROM mz_objects WHERE id LIKE 'u%' ORDER BY 1, 2",
    "tables": "SELECT t.name, s.name, t.create_sql FROM mz_tables t "
    "LEFT JOIN mz_sources s ON s.id = t.source_id WHERE t.id LIKE 'u%' ORDER BY 1",
    "sources": "SELECT name, type, create_sql FROM mz_sources WHERE id LIKE 'u%' ORDER BY 1",
    "columns": "SELECT o.name, c.name, c.position, c.type, c.nullable FROM mz_columns c "
    "JOIN mz_objects o ON o.id = c.id WHERE o.id LIKE 'u%' ORDER BY 1, 3",
    "dependencies": "SELECT a.name, b.name FROM mz_internal.mz_object_dependencies d "
    "JOIN mz_objects a ON a.id = d.object_id JOIN mz_objects b ON b.id = d.referenced_object_id "
    "WHERE a.id LIKE 'u%' AND b.id LIKE 'u%' ORDER BY 1, 2",
    "references": "SELECT namespace, name, columns FROM mz_internal.mz_source_references "
    "ORDER BY 1, 2",
    "audit": "SELECT event_type, object_type, details FROM mz_audit_events ORDER BY id",
}


Step = Callable[["Walker"], None]
"""What a visitor does on the wizard's pages."""


class Walker:
    """One user, every entrance."""

    def __init__(self) -> None:
        self.user: User = accounts.create_user("ada@example.com", owner=True)
        token = accounts.create_token(self.user, "walk")
        self.client = Client(headers={"Authorization": f"Bearer {token.app_password}"})
        self.browser = Client()
        self.browser.force_login(self.user)

    def post(self, path: str, values: dict[str, object]) -> Any:
        answer = self.browser.post(path, values)
        assert answer.status_code in {200, 302}, answer.content
        return answer

    def rest(self, call: Call) -> None:
        path, body = call
        answer = self.client.post(path, body, content_type="application/json")
        assert answer.status_code == 201, answer.content

    def sql_api(self, text: str) -> None:
        answer = self.client.post("/api/sql", {"query": text}, content_type="application/json")
        assert not [r for r in answer.json()["results"] if "error" in r], answer.content

    def query(self, text: str) -> None:
        answer = self.client.post("/query", text, content_type="text/plain")
        assert not [r for r in answer.json() if "error" in r], answer.content

    def wizard(self, step: Step) -> None:
        step(self)

    def execute(self, text: str) -> list[Any]:
        outcomes = run(self.user, text)
        for outcome in outcomes:
            if isinstance(outcome, HeadraceError):
                raise outcome
        return outcomes

    def dump(self) -> Dump:
        found: Dump = {}
        for name, query in QUERIES.items():
            answer = self.execute(query)[0]
            rows = text_rows(answer.relation, answer.data)
            found[name] = [tuple(map(_without_ids, row)) for row in rows]
        return found


def _without_ids(value: str | None) -> str | None:
    return value and re.sub(r"\bu\d+\b", "u", value)


def _dump_after(entrance: str, inputs: Sequence[Any]) -> Dump:
    """What a walk leaves in an empty catalog; everything it did is undone."""
    with transaction.atomic():
        walker = Walker()
        for each in inputs:
            getattr(walker, entrance)(each)
        dump = walker.dump()
        transaction.set_rollback(True)
    return dump


GENERATOR_SQL = (
    "CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s')",
    "CREATE TABLE bids FROM SOURCE house (REFERENCE auction.bids) "
    "WITH (TEXT COLUMNS (amount), EXCLUDE COLUMNS (buyer))",
)
GENERATOR_REST: tuple[Call, ...] = (
    (
        "/api/sources",
        {
            "name": "house",
            "type": "load generator",
            "generator": "auction",
            "options": {"TICK INTERVAL": "1s"},
        },
    ),
    (
        "/api/tables",
        {
            "name": "bids",
            "source": {"name": "house"},
            "reference": {"namespace": "auction", "name": "bids"},
            "text_columns": ["amount"],
            "exclude_columns": ["buyer"],
        },
    ),
)
PLAIN_SQL = ("CREATE TABLE limits (id int PRIMARY KEY, most numeric(12, 2) NOT NULL DEFAULT 0)",)
PLAIN_REST: tuple[Call, ...] = (
    (
        "/api/tables",
        {
            "name": "limits",
            "columns": [
                {"name": "id", "type": "integer", "primary_key": True},
                {"name": "most", "type": "numeric(12,2)", "nullable": False, "default": 0},
            ],
        },
    ),
)


def _by_sql(text: str) -> Step:
    return lambda walker: walker.sql_api(text)


def _tables_by_wizard(source: str, key: str, column: dict[str, str]) -> Step:
    """Choose one upstream table, decide about its columns, review, create."""

    def step(walker: Walker) -> None:
        found = next(row for row in reads.sources() if row.item.name == source)
        rows = reads.references(found.item.id)
        identity = next(row.identity for row in rows if row.name == key)
        begun = walker.browser.get(f"/sources/new/tables?source={found.item.id}")
        base = begun["Location"].partition("?")[0]
        walker.post(f"{base}/select", {"op": "add", "ids": str(identity)})
        for name, mode in column.items():
            walker.post(f"{base}/columns/{identity}", {"col": name, "mode": mode})
        done = walker.post(f"{base}/create", {})
        assert done["Location"] == f"/sources/{found.item.id}", done.content

    return step


def _source_by_wizard(connection: dict[str, object], publication: str, name: str) -> Step:
    """Connect, read the checks, name the source."""

    def step(walker: Walker) -> None:
        base = walker.browser.get("/sources/new/begin")["Location"].partition("?")[0]
        connected = walker.post(f"{base}/connection", connection)
        assert connected.status_code == 302, connected.content
        made = walker.post(f"{base}/source", {"name": name, "publication": publication})
        assert made["Location"].endswith("step=tables"), made.content

    return step


def _compare(
    statements: Sequence[str],
    calls: Sequence[Call],
    before: Callable[[], None] = lambda: None,
    steps: Sequence[Step] = (),
) -> Dump:
    walks: dict[str, Sequence[Any]] = {
        "execute": statements,
        "sql_api": statements,
        "query": statements,
        "rest": calls,
    }
    if steps:
        walks["wizard"] = steps
    dumps: dict[str, Dump] = {}
    for entrance, inputs in walks.items():
        before()
        dumps[entrance] = _dump_after(entrance, inputs)
    expected = dumps.pop("execute")
    assert expected["tables"]
    assert expected["columns"]
    for name, dump in dumps.items():
        assert dump == expected, name
    return expected


@pytest.mark.django_db
def test_on_a_load_generator() -> None:
    steps = (
        _by_sql(GENERATOR_SQL[0]),
        _tables_by_wizard("house", "bids", {"amount": "text", "buyer": "exclude"}),
    )
    dump = _compare(GENERATOR_SQL, GENERATOR_REST, steps=steps)
    assert [row[0] for row in dump["tables"]] == ["bids"]


@pytest.mark.spark
@pytest.mark.django_db
def test_a_plain_table(plane: Plane, tmp_path: Path, settings: Any) -> None:
    walks = itertools.count()

    def fresh_warehouse() -> None:
        settings.HEADRACE_PLANE = replace(plane, warehouse=str(tmp_path / str(next(walks))))

    dump = _compare(PLAIN_SQL, PLAIN_REST, fresh_warehouse)
    assert [row[0] for row in dump["tables"]] == ["limits"]


@pytest.mark.postgres
@pytest.mark.django_db
def test_on_a_real_postgres(postgres: Postgres) -> None:
    dsn = postgres.create_database("walks")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE shop (id int PRIMARY KEY, name text, at timestamptz)")
        connection.execute("ALTER TABLE shop REPLICA IDENTITY FULL")
        connection.execute("CREATE PUBLICATION walk FOR TABLE shop")
    entry = {
        "host": postgres.host,
        "port": postgres.port,
        "upstream_database": "walks",
        "user": postgres.user,
        "ssl_mode": "prefer",
    }
    statements = (
        f"CREATE SECRET shop_db_password AS '{postgres.password}'",
        f"CREATE CONNECTION shop_db TO POSTGRES (HOST '{postgres.host}', PORT {postgres.port}, "
        f"DATABASE 'walks', USER '{postgres.user}', SSL MODE 'prefer', "
        "PASSWORD SECRET shop_db_password)",
        "CREATE SOURCE shop_source FROM POSTGRES CONNECTION shop_db (PUBLICATION 'walk')",
        "CREATE TABLE shop FROM SOURCE shop_source (REFERENCE public.shop)",
    )
    calls: tuple[Call, ...] = (
        ("/api/secrets", {"name": "shop_db_password", "value": postgres.password}),
        (
            "/api/connections",
            {"name": "shop_db", "password": {"name": "shop_db_password"}} | entry,
        ),
        (
            "/api/sources",
            {
                "name": "shop_source",
                "type": "postgres",
                "connection": {"name": "shop_db"},
                "publication": "walk",
            },
        ),
        (
            "/api/tables",
            {
                "name": "shop",
                "source": {"name": "shop_source"},
                "reference": {"namespace": "public", "name": "shop"},
            },
        ),
    )
    form = {
        "name": "shop_db",
        "host": postgres.host,
        "port": postgres.port,
        "database": "walks",
        "user": postgres.user,
        "password": postgres.password,
        "ssl_mode": "prefer",
    }
    steps = (
        _source_by_wizard(form, "walk", "shop_source"),
        _tables_by_wizard("shop_source", "shop", {}),
    )
    dump = _compare(statements, calls, steps=steps)
    assert [row[1] for row in dump["columns"] if row[0] == "shop"] == ["id", "name", "at"]
