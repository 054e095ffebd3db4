"""mz_objects and its kinds: tables, sources, views, connections, secrets, columns."""

from __future__ import annotations

from catalog.system.relation import declare

_OBJECT = "id text not null, oid oid not null, schema_id text not null, name text not null, "
_OWNED = "owner_id text not null, privileges text[] not null, "
_TEXTS = "create_sql text, redacted_create_sql text"

RELATIONS = (
    declare(
        "mz_catalog.mz_tables",
        _OBJECT + _OWNED + _TEXTS + ", source_id text",
        "SELECT id, oid, schema_id, name, owner_id, privileges, create_sql,"
        " redacted_(create_sql), source_id"
        " FROM raw.objects WHERE type = 'table'",
        reads="objects",
    ),
    declare(
        "mz_catalog.mz_sources",
        _OBJECT + "type text not null, connection_id text, size text, envelope_type text,"
        " key_format text, value_format text, cluster_id text, " + _OWNED + _TEXTS,
        "SELECT o.id, o.oid, o.schema_id, o.name, s.type, s.connection_id, NULL, NULL, NULL, NULL,"
        " 'u1', o.owner_id, o.privileges, o.create_sql, redacted_(o.create_sql)"
        " FROM raw.objects o JOIN raw.sources s ON s.id = o.id WHERE o.type = 'source'",
        reads="objects sources",
    ),
    declare(
        "mz_catalog.mz_views",
        _OBJECT + "definition text not null, " + _OWNED + _TEXTS,
        "SELECT id, oid, schema_id, name, coalesce(definition, create_sql, ''), owner_id,"
        " privileges, create_sql, redacted_(create_sql) FROM raw.objects WHERE type = 'view'",
        reads="objects",
    ),
    declare(
        "mz_catalog.mz_materialized_views",
        _OBJECT + "cluster_id text not null, definition text not null, " + _OWNED + _TEXTS,
        "SELECT id, oid, schema_id, name, 'u1', coalesce(definition, create_sql, ''), owner_id,"
        " privileges, create_sql, redacted_(create_sql) FROM raw.objects"
        " WHERE type = 'materialized-view'",
        reads="objects",
    ),
    declare(
        "mz_catalog.mz_connections",
        _OBJECT + "type text not null, " + _OWNED + _TEXTS,
        "SELECT o.id, o.oid, o.schema_id, o.name, c.type, o.owner_id, o.privileges, o.create_sql,"
        " redacted_(o.create_sql)"
        " FROM raw.objects o JOIN raw.connections c ON c.id = o.id",
        reads="objects connections",
    ),
    declare(
        "mz_catalog.mz_secrets",
        _OBJECT + _OWNED.rstrip(", "),
        "SELECT id, oid, schema_id, name, owner_id, privileges FROM raw.objects"
        " WHERE type = 'secret'",
        reads="objects",
    ),
    declare(
        "mz_catalog.mz_indexes",
        "id text not null, oid oid not null, name text not null, on_id text not null,"
        " cluster_id text not null, owner_id text not null, " + _TEXTS,
        "SELECT id, oid, name, on_id, 'u1', 's1', NULL, NULL FROM raw.indexes",
        reads="indexes",
    ),
    declare(
        "mz_catalog.mz_sinks",
        _OBJECT + "type text not null, connection_id text, size text, envelope_type text,"
        " format text, key_format text, value_format text, cluster_id text,"
        " owner_id text not null, " + _TEXTS,
    ),
    declare(
        "mz_catalog.mz_types",
        _OBJECT + "category text not null, " + _OWNED + _TEXTS,
        "SELECT 's' || oid, oid, 's1', name, category, 's1', ['=U/s1'], NULL, NULL FROM raw.types",
        reads="types",
    ),
    declare(
        "mz_catalog.mz_functions",
        _OBJECT + "argument_type_ids text[], variadic_argument_type_id text,"
        " return_type_id text, returns_set boolean, owner_id text",
    ),
    declare(
        "mz_catalog.mz_objects",
        _OBJECT + "type text not null, owner_id text not null, cluster_id text, privileges text[]",
        "SELECT id, oid, schema_id, name, type, owner_id,"
        " CASE WHEN type IN ('source', 'materialized-view') THEN 'u1' END, privileges"
        " FROM raw.objects UNION ALL SELECT i.id, i.oid, o.schema_id, i.name, 'index', 's1',"
        " 'u1', NULL FROM raw.indexes i JOIN raw.objects o ON o.id = i.on_id",
        reads="objects indexes",
    ),
    declare(
        "mz_catalog.mz_relations",
        _OBJECT + "type text not null, owner_id text not null, cluster_id text,"
        " privileges text[] not null",
        "SELECT id, oid, schema_id, name, type, owner_id,"
        " CASE WHEN type IN ('source', 'materialized-view') THEN 'u1' END, privileges"
        " FROM raw.objects WHERE type IN ('table', 'source', 'view', 'materialized-view')",
        reads="objects",
    ),
    declare(
        "mz_catalog.mz_columns",
        "id text not null, name text not null, position uint8 not null, nullable boolean not null,"
        ' type text not null, "default" text, type_oid oid not null, type_mod integer not null',
        'SELECT id, name, position, nullable, type, "default", type_oid, type_mod'
        " FROM raw.columns",
        reads="columns",
    ),
    declare(
        "mz_internal.mz_object_dependencies",
        "object_id text not null, referenced_object_id text not null",
        "SELECT object_id, referenced_object_id FROM raw.dependencies",
        reads="dependencies",
    ),
    declare(
        "mz_internal.mz_comments",
        "id text not null, object_type text not null, object_sub_id integer,"
        " comment text not null",
        "SELECT id, type, sub_id, comment FROM raw.comments",
        reads="comments",
    ),
    declare(
        "mz_internal.mz_replacements",
        "id text not null, target_id text not null",
        "SELECT id, target_id FROM raw.maintained WHERE target_id IS NOT NULL",
        reads="maintained",
    ),
)
