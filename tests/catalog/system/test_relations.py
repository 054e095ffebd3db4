from __future__ import annotations

import uuid

import pytest

from catalog.models.feeds import ExportProgress
from catalog.models.namespaces import Region
from catalog.system.registry import RELATIONS, lookup
from ingest.errors import HeadraceError
from tests.catalog.system.conftest import REGION, WHEN, Maker, ask, rows

DOCUMENTED = {
    "mz_catalog.mz_tables": "id oid schema_id name owner_id privileges create_sql"
    " redacted_create_sql source_id",
    "mz_catalog.mz_sources": "id oid schema_id name type connection_id size envelope_type"
    " key_format value_format cluster_id owner_id privileges create_sql redacted_create_sql",
    "mz_internal.mz_source_references": "source_id namespace name updated_at columns",
    "mz_internal.mz_postgres_source_tables": "id schema_name table_name",
    "mz_internal.mz_source_statuses": "id name type last_status_change_at status error details",
    "mz_internal.mz_source_status_history": "occurred_at source_id status error details"
    " replica_id",
    "mz_internal.mz_source_statistics": "id replica_id messages_received bytes_received"
    " updates_staged updates_committed records_indexed bytes_indexed rehydration_latency"
    " snapshot_records_known snapshot_records_staged snapshot_committed offset_known"
    " offset_committed",
    "mz_catalog.mz_audit_events": "id event_type object_type details user occurred_at",
    "mz_catalog.mz_secrets": "id oid schema_id name owner_id privileges",
    "mz_catalog.mz_connections": "id oid schema_id name type owner_id privileges create_sql"
    " redacted_create_sql",
    "mz_catalog.mz_objects": "id oid schema_id name type owner_id cluster_id privileges",
    "mz_internal.mz_object_dependencies": "object_id referenced_object_id",
    "mz_catalog.mz_materialized_views": "id oid schema_id name cluster_id definition owner_id"
    " privileges create_sql redacted_create_sql",
    "mz_internal.mz_replacements": "id target_id",
    "mz_internal.mz_replacement_statistics": "replacement_id target_id hydrated rows_added"
    " rows_removed rows_changed bytes as_of",
    "mz_internal.mz_hydration_statuses": "object_id replica_id hydrated",
    "mz_internal.mz_comments": "id object_type object_sub_id comment",
    "mz_catalog.mz_roles": "id oid name inherit rolcanlogin rolsuper",
}


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.id)
def test_every_relation_answers_as_declared(relation, seeded: Maker) -> None:  # type: ignore[no-untyped-def]
    answer = ask(f"SELECT * FROM {relation.id}")
    assert answer.relation.names == relation.relation.names
    assert [c.type for c in answer.relation.columns] == [c.type for c in relation.relation.columns]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_columns_in_the_documented_order(name: str) -> None:
    found = lookup(tuple(name.split(".")))
    assert found is not None
    assert found.relation.names == tuple(DOCUMENTED[name].split())


def test_tables_and_sources(seeded: Maker) -> None:
    assert rows("SELECT name, source_id FROM mz_tables ORDER BY name") == [
        ("bids", "u3"),
        ("notes", None),
    ]
    joined = (
        "SELECT s.name, s.type, c.name, d.name FROM mz_sources s JOIN mz_connections c"
        " ON c.id = s.connection_id JOIN mz_schemas n ON n.id = s.schema_id"
        " JOIN mz_databases d ON d.id = n.database_id"
    )
    assert rows(joined) == [("shop", "postgres", "pg", "headrace")]


def test_references_and_upstream_tables(seeded: Maker) -> None:
    assert rows("SELECT * FROM mz_internal.mz_source_references") == [
        ("u3", "public", "bids", WHEN, ["id", "amount"])
    ]
    assert rows("SELECT * FROM mz_internal.mz_postgres_source_tables") == [
        ("u4", "public", "bids")
    ]
    keys = (
        "SELECT column_name, in_key FROM mz_internal.mz_source_reference_columns ORDER BY position"
    )
    assert rows(keys) == [("id", True), ("amount", False)]


def test_statuses_are_never_stale(seeded: Maker) -> None:
    query = "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 'bids'"
    assert rows(query) == [("stalled",)]
    ExportProgress.objects.update(status="running")
    assert rows(query) == [("running",)]


def test_catalog_follows_the_stamp(seeded: Maker) -> None:
    query = "SELECT count(*) FROM mz_tables"
    assert rows(query) == [(2,)]
    seeded.item("table", "later")
    Region.objects.filter(name=REGION).update(stamp=uuid.uuid4())
    assert rows(query) == [(3,)]


def test_columns_carry_their_types(seeded: Maker) -> None:
    query = (
        "SELECT name, type, type_oid, type_mod FROM mz_columns WHERE id = 'u4' ORDER BY position"
    )
    assert rows(query) == [
        ("id", "integer", 23, -1),
        ("amount", "numeric(10,2)", 1700, 655366),
        ("tags", "text[]", 1009, -1),
    ]


def test_redaction(seeded: Maker) -> None:
    query = "SELECT redacted_create_sql FROM mz_connections"
    assert rows(query) == [
        ("CREATE CONNECTION headrace.public.pg TO POSTGRES (HOST = '<REDACTED>')",)
    ]


def test_names_of_outputs(seeded: Maker) -> None:
    answer = ask("SELECT count(*), 1, name || 'x', current_user FROM mz_objects GROUP BY name")
    assert answer.relation.names == ("count", "?column?", "?column?", "current_user")


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELECT nope FROM mz_tables", "42703"),
        ("SELECT name FROM mz_tables, mz_sources", "42702"),
        ("SELECT * FROM mz_nothing", "42P01"),
        ("SELECT frob(1)", "42883"),
        ("SELECT * FROM read_csv('/etc/passwd')", "42883"),
        ("SELECT * FROM read_text('/etc/passwd')", "42883"),
        ("SELECT * FROM duckdb_settings()", "42883"),
        ("SELECT getenv('HOME')", "42883"),
        ('SELECT * FROM "/etc/passwd"', "42P01"),
        ("SELECT * FROM raw.objects", "42P01"),
    ],
)
def test_errors(sql: str, state: str, seeded: Maker) -> None:
    with pytest.raises(HeadraceError) as failure:
        ask(sql)
    assert failure.value.sqlstate == state
