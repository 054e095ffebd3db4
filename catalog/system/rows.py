"""The raw rows behind the built-in relations: bulk queries over the models, one per table.

Each loader gives the rows of one table in schema `raw`; its columns are declared beside it.
`LASTING` ones change only with the catalog's stamp; `VOLATILE` ones are read for each query.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import F

from catalog.models.connections import ConnectionDetails
from catalog.models.feeds import Feed
from catalog.models.history import AuditEvent, StatusHistory
from catalog.models.items import Dependency, Item, ItemColumn
from catalog.models.namespaces import Database, FeatureFlag, Role, Schema
from catalog.models.plans import BuiltinRelation
from catalog.models.sources import SourceDetails, SourceReference
from catalog.models.tables import TableDetails
from catalog.system import states, subscriptions, view_rows
from catalog.system.builtin import (
    BUILTIN_SCHEMAS,
    TYPE_ROWS,
    builtin_columns,
    builtin_objects,
)
from catalog.urls import webhook_url
from ingest.contract.types import Type

Rows = Iterable[tuple[Any, ...]]


@dataclass(frozen=True)
class RawTable:
    """One loaded table: DuckDB columns and where its rows come from, given a region's key."""

    columns: str
    load: Callable[[int], Rows]


@cache
def type_numbers(text: str) -> tuple[int, int]:
    """A type's OID and modifier; text's for a spelling that has no native type."""
    try:
        type_ = Type.parse(text)
    except ValueError:
        return 25, -1
    return type_.oid, type_.modifier


def _databases(region: int) -> Rows:
    return Database.objects.filter(region_id=region).values_list(
        "gid", "oid", "name", "owner__gid"
    )


def _schemas(region: int) -> Rows:
    found = Schema.objects.filter(database__region_id=region).values_list(
        "gid", "oid", "database__gid", "name", "owner__gid", "owner__oid"
    )
    return [*BUILTIN_SCHEMAS, *found]


def _roles(region: int) -> Rows:
    found = Role.objects.filter(region_id=region).values_list("gid", "oid", "name", "superuser")
    return [("s1", 10, "mz_system", True), *found]


def _objects(region: int) -> Rows:
    sources = dict(
        TableDetails.objects.filter(item__region_id=region, source__isnull=False)
        .exclude(source=F("item"))
        .values_list("item_id", "source__gid")
    )
    found = Item.objects.filter(region_id=region).values_list(
        "gid", "oid", "schema__gid", "name", "kind", "owner__gid", "create_sql", "pk"
    )
    grants = {"table": "arwd", "connection": "U", "secret": "U"}
    rows: list[tuple[Any, ...]] = [
        (
            *row[:4],
            row[4].replace(" ", "-"),
            row[5],
            [f"{row[5]}={grants.get(row[4], 'r')}/{row[5]}"],
            row[6],
            sources.get(row[7]),
            _definition(row[4], row[6]),
        )
        for row in found
    ]
    return [*builtin_objects(region), *rows]


def _definition(kind: str, create_sql: str) -> str | None:
    if kind not in {"view", "materialized view"}:
        return None
    _, found, body = create_sql.partition(" AS ")
    return body if found else create_sql


def _columns(region: int) -> Rows:
    found = ItemColumn.objects.filter(item__region_id=region).values_list(
        "item__gid", "name", "position", "nullable", "type", "default"
    )
    return [
        *builtin_columns(region),
        *((*row, *type_numbers(row[4])) for row in found.iterator(20_000)),
    ]


def _indexes(region: int) -> Rows:
    """Clusters' indexes on logs; users make none."""
    known = {row.name: row for row in BuiltinRelation.objects.filter(region_id=region)}
    return [
        (one.gid, one.oid, name, known[one.needs[0]].gid)
        for name, one in known.items()
        if one.kind == "index"
    ]


def _sources(region: int) -> Rows:
    found = SourceDetails.objects.filter(item__region_id=region).values_list(
        "item__gid", "type", "connection__gid", "feed__gid", "feed__slot", "generator"
    )
    return [*found, *((*part, None, "", "", "") for part in states.subsources(region))]


def _webhooks(region: int) -> Rows:
    found = SourceDetails.objects.filter(item__region_id=region, type="webhook").values_list(
        "item__gid",
        "item__schema__database__name",
        "item__schema__name",
        "item__name",
        "item__region__name",
    )
    return [(row[0], row[3], webhook_url(row[1:4], row[4])) for row in found]


def _connections(region: int) -> Rows:
    found = ConnectionDetails.objects.filter(item__region_id=region)
    return found.values_list("item__gid", "type")


def _exports(region: int) -> Rows:
    return TableDetails.objects.filter(item__region_id=region, source__isnull=False).values_list(
        "item__gid", "source__gid", "namespace", "reference"
    )


def _dependencies(region: int) -> Rows:
    return Dependency.objects.filter(item__region_id=region).values_list("item__gid", "needs__gid")


def _flags(region: int) -> Rows:
    return FeatureFlag.objects.filter(region_id=region).values_list("name", "value")


def _references(region: int) -> Rows:
    found = SourceReference.objects.filter(source__region_id=region).values_list(
        "source__gid", "namespace", "name", "updated_at", "columns"
    )
    return [(*row[:4], [column["name"] for column in row[4]]) for row in found.iterator(5_000)]


def _reference_columns(region: int) -> Rows:
    found = SourceReference.objects.filter(source__region_id=region).values_list(
        "source__gid", "namespace", "name", "columns", "key"
    )
    for source, namespace, name, columns, key in found.iterator(5_000):
        for column in columns:
            yield (
                source,
                namespace,
                name,
                column["name"],
                column["position"],
                column["type_name"],
                column["nullable"],
                column["name"] in key,
                _native(column.get("native")),
            )


def _native(value: Any) -> str | None:
    if isinstance(value, dict):
        return Type(**value).sql
    return value or None


def _types(region: int) -> Rows:
    return TYPE_ROWS


def _audit(region: int) -> Rows:
    found = AuditEvent.objects.filter(region_id=region).values_list(
        "number", "event", "object_type", "details", "user", "occurred_at"
    )
    return [(*row[:3], json.dumps(row[3]), *row[4:]) for row in found.iterator(5_000)]


def _status_history(region: int) -> Rows:
    return StatusHistory.objects.filter(region_id=region).values_list(
        "occurred_at", "object_id", "status", "error", "detail", "hint"
    )


def _feeds(region: int) -> Rows:
    sources: dict[int, list[str]] = defaultdict(list)
    for feed, gid in SourceDetails.objects.filter(item__region_id=region).values_list(
        "feed_id", "item__gid"
    ):
        sources[feed].append(gid)
    found = Feed.objects.filter(region_id=region).values_list(
        "pk",
        "gid",
        "kind",
        "slot",
        "progress__status",
        "progress__complete_through",
        "progress__upto",
        "progress__upstream",
        "progress__retained_bytes",
        "progress__reported_at",
        "progress__error",
        "progress__hint",
    )
    return [(*row[1:4], sources[row[0]], row[4] or "created", *row[5:]) for row in found]


LASTING: dict[str, RawTable] = {
    "databases": RawTable("id text, oid bigint, name text, owner_id text", _databases),
    "schemas": RawTable(
        "id text, oid bigint, database_id text, name text, owner_id text, owner_oid bigint",
        _schemas,
    ),
    "roles": RawTable("id text, oid bigint, name text, superuser boolean", _roles),
    "objects": RawTable(
        "id text, oid bigint, schema_id text, name text, type text, owner_id text,"
        " privileges text[], create_sql text, source_id text, definition text",
        _objects,
    ),
    "indexes": RawTable("id text, oid bigint, name text, on_id text", _indexes),
    "columns": RawTable(
        'id text, name text, position bigint, nullable boolean, type text, "default" text,'
        " type_oid bigint, type_mod bigint",
        _columns,
    ),
    "sources": RawTable(
        "id text, type text, connection_id text, feed_id text, slot text, generator text", _sources
    ),
    "webhooks": RawTable("id text, name text, url text", _webhooks),
    "connections": RawTable("id text, type text", _connections),
    "exports": RawTable("id text, source_id text, namespace text, reference text", _exports),
    "dependencies": RawTable("object_id text, referenced_object_id text", _dependencies),
    "flags": RawTable("name text, value text", _flags),
    "references_": RawTable(
        "source_id text, namespace text, name text, updated_at timestamptz, columns text[]",
        _references,
    ),
    "reference_columns": RawTable(
        "source_id text, namespace text, name text, column_name text, position bigint, type text,"
        " nullable boolean, in_key boolean, native_type text",
        _reference_columns,
    ),
    "types": RawTable(
        "oid bigint, name text, array_oid bigint, element_oid bigint, length bigint,"
        " category text, sql_name text",
        _types,
    ),
    "maintained": RawTable(view_rows.MAINTAINED, view_rows.maintained),
    "versions": RawTable(view_rows.VERSIONS, view_rows.versions),
    "comments": RawTable(view_rows.COMMENTS, view_rows.comments),
    "audit": RawTable(
        'id bigint, event_type text, object_type text, details text, "user" text,'
        " occurred_at timestamptz",
        _audit,
    ),
}
VOLATILE: dict[str, RawTable] = {
    "states": RawTable(states.COLUMNS, states.states),
    "view_states": RawTable(view_rows.STATES, view_rows.states),
    "subscriptions": RawTable(subscriptions.COLUMNS, subscriptions.rows),
    "status_history": RawTable(
        "occurred_at timestamptz, object_id text, status text, error text, detail text, hint text",
        _status_history,
    ),
    "feeds": RawTable(
        "id text, kind text, slot text, sources text[], status text, frontier bigint,"
        " upto bigint, upstream bigint, retained_bytes bigint, reported_at timestamptz,"
        " error text, hint text",
        _feeds,
    ),
}
