"""What sources know: references, upstream tables, feeds, and their state now."""

from __future__ import annotations

from catalog.system.relation import declare

RELATIONS = (
    declare(
        "mz_internal.mz_source_references",
        "source_id text not null, namespace text, name text not null,"
        " updated_at timestamptz not null, columns text[]",
        "SELECT source_id, namespace, name, updated_at, columns FROM raw.references_",
        reads="references_",
    ),
    declare(
        "mz_internal.mz_source_reference_columns",
        "source_id text not null, namespace text, name text not null, column_name text not null,"
        " position uint8 not null, type text not null, nullable boolean not null,"
        " in_key boolean not null, native_type text",
        "SELECT source_id, namespace, name, column_name, position, type, nullable, in_key,"
        " native_type FROM raw.reference_columns",
        reads="reference_columns",
        comment="Columns of upstream tables as of the last refresh.",
    ),
    declare(
        "mz_internal.mz_postgres_sources",
        "id text not null, replication_slot text not null, timeline_id uint8",
        "SELECT id, slot, NULL FROM raw.sources WHERE type = 'postgres'",
        reads="sources",
    ),
    declare(
        "mz_internal.mz_postgres_source_tables",
        "id text not null, schema_name text not null, table_name text not null",
        "SELECT t.id, t.namespace, t.reference FROM raw.exports t"
        " JOIN raw.sources s ON s.id = t.source_id WHERE s.type = 'postgres'",
        reads="exports sources",
    ),
    declare(
        "mz_internal.mz_mysql_source_tables",
        "id text not null, schema_name text not null, table_name text not null",
    ),
    declare(
        "mz_internal.mz_sql_server_source_tables",
        "id text not null, schema_name text not null, table_name text not null",
    ),
    declare(
        "mz_internal.mz_kafka_source_tables",
        "id text not null, topic text not null, envelope_type text, key_format text,"
        " value_format text",
    ),
    declare(
        "mz_internal.mz_webhook_sources",
        "id text not null, name text not null, url text not null",
        "SELECT id, name, url FROM raw.webhooks",
        reads="webhooks",
    ),
    declare(
        "mz_internal.mz_source_statuses",
        "id text not null, name text not null, type text not null,"
        " last_status_change_at timestamptz, status text not null, error text, details jsonb",
        "SELECT id, name, type, changed_at, status, nullif(error, ''), details_(detail, hint)"
        " FROM raw.states",
        reads="states",
    ),
    declare(
        "mz_internal.mz_source_status_history",
        "occurred_at timestamptz not null, source_id text not null, status text not null,"
        " error text, details jsonb, replica_id text",
        "SELECT occurred_at, object_id, status, nullif(error, ''), details_(detail, hint), NULL"
        " FROM raw.status_history",
        reads="status_history",
    ),
    declare(
        "mz_internal.mz_source_statistics",
        "id text not null, replica_id text, messages_received uint8 not null,"
        " bytes_received uint8 not null, updates_staged uint8 not null,"
        " updates_committed uint8 not null, records_indexed uint8 not null,"
        " bytes_indexed uint8 not null, rehydration_latency interval,"
        " snapshot_records_known uint8, snapshot_records_staged uint8,"
        " snapshot_committed boolean not null, offset_known uint8, offset_committed uint8",
        "SELECT id, 'u1', messages, bytes, updates_staged, updates_committed, 0, 0, NULL,"
        " CASE WHEN rows_known >= 0 THEN rows_known END, rows_staged, readable_from > 0,"
        " upstream, upto FROM raw.states",
        reads="states",
    ),
    declare(
        "mz_internal.mz_hydration_statuses",
        "object_id text not null, replica_id text, hydrated boolean",
        "SELECT id, 'u1', readable_from > 0 FROM raw.states"
        " UNION ALL SELECT id, 'u1', hydrated FROM raw.view_states",
        reads="states view_states",
    ),
    declare(
        "mz_internal.mz_feeds",
        "id text not null, kind text not null, slot text, sources text[] not null,"
        " status text not null, frontier mz_timestamp, upto uint8, upstream uint8,"
        " retained_bytes bigint, reported_at timestamptz, error text, hint text",
        "SELECT id, kind, nullif(slot, ''), sources, status, frontier, upto, upstream,"
        " CASE WHEN retained_bytes >= 0 THEN retained_bytes END, reported_at,"
        " nullif(error, ''), nullif(hint, '') FROM raw.feeds",
        reads="feeds",
        comment="The one consumer behind one or more sources, and what upstream keeps for it.",
    ),
    declare(
        "mz_catalog.mz_audit_events",
        "id uint8 not null, event_type text not null, object_type text not null,"
        ' details jsonb not null, "user" text, occurred_at timestamptz not null',
        'SELECT id, event_type, object_type, details, "user", occurred_at FROM raw.audit',
        reads="audit",
    ),
)
