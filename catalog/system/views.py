"""Materialized views and replacements: how far they are, what they were, what would change."""

from __future__ import annotations

from catalog.system.relation import declare

RELATIONS = (
    declare(
        "mz_catalog.mz_replacement_materialized_views",
        "id text not null, oid oid not null, schema_id text not null, name text not null,"
        " target_id text not null, cluster_id text not null, definition text not null,"
        " owner_id text not null, privileges text[] not null, create_sql text,"
        " redacted_create_sql text, guard jsonb",
        "SELECT o.id, o.oid, o.schema_id, o.name, m.target_id, 'u1',"
        " coalesce(o.definition, o.create_sql, ''), o.owner_id, o.privileges, o.create_sql,"
        " redacted_(o.create_sql), m.guard"
        " FROM raw.objects o JOIN raw.maintained m ON m.id = o.id WHERE m.target_id IS NOT NULL",
        reads="objects maintained",
        comment="Replacements that have not been applied; guard: they apply themselves.",
    ),
    declare(
        "mz_internal.mz_replacement_statistics",
        "replacement_id text not null, target_id text not null, hydrated boolean not null,"
        " rows_added bigint, rows_removed bigint, rows_changed bigint, bytes bigint,"
        " as_of mz_timestamp",
        "SELECT id, target_id, hydrated,"
        " CASE WHEN rows_added >= 0 THEN rows_added END,"
        " CASE WHEN rows_removed >= 0 THEN rows_removed END,"
        " CASE WHEN rows_changed >= 0 THEN rows_changed END,"
        " CASE WHEN staged_bytes >= 0 THEN staged_bytes END,"
        " CASE WHEN as_of > 0 THEN as_of END"
        " FROM raw.view_states WHERE target_id IS NOT NULL",
        reads="view_states",
        comment="What a replacement would change in its target at one time.",
    ),
    declare(
        "mz_internal.mz_materialized_view_statuses",
        "id text not null, name text not null, last_status_change_at timestamptz,"
        " status text not null, error text, details jsonb, hydrated boolean not null,"
        " percent bigint not null, rows_per_second bigint not null, readable_from mz_timestamp,"
        " complete_through mz_timestamp, row_count bigint, bytes bigint, how text, reason text,"
        " sealed boolean not null",
        "SELECT s.id, s.name, s.changed_at, s.status, nullif(s.error, ''),"
        " details_(s.detail, s.hint), s.hydrated, s.percent, s.rate,"
        " CASE WHEN s.readable_from > 0 THEN s.readable_from END,"
        " CASE WHEN s.complete_through > 0 THEN s.complete_through END,"
        " CASE WHEN s.row_count >= 0 THEN s.row_count END,"
        " CASE WHEN s.size >= 0 THEN s.size END, nullif(s.how, ''), nullif(s.reason, ''),"
        " m.sealed FROM raw.view_states s JOIN raw.maintained m ON m.id = s.id",
        reads="view_states maintained",
        comment="How a view is kept (incremental or recompute, and why), and how far it is.",
    ),
    declare(
        "mz_internal.mz_materialized_view_refresh_strategies",
        "materialized_view_id text not null, type text not null, interval text,"
        " aligned_to mz_timestamp, at mz_timestamp",
        "WITH o AS (SELECT id, options::json AS j FROM raw.maintained),"
        " r AS (SELECT id, j->>'refresh every' AS every, j->>'refresh aligned to' AS aligned,"
        " j->>'refresh at' AS moments, j->>'refresh at creation' AS creation FROM o)"
        " SELECT id, 'on-commit', NULL, NULL, NULL FROM r"
        " WHERE every IS NULL AND moments IS NULL AND creation IS NULL"
        " UNION ALL SELECT id, 'every', every || ' milliseconds', CAST(aligned AS BIGINT), NULL"
        " FROM r WHERE every IS NOT NULL"
        " UNION ALL SELECT id, 'at', NULL, NULL,"
        " CAST(unnest(string_split(moments, ',')) AS BIGINT) FROM r"
        " WHERE moments IS NOT NULL"
        " UNION ALL SELECT id, 'at', NULL, NULL, NULL FROM r WHERE creation IS NOT NULL",
        reads="maintained",
        comment="When views refresh; at without a time is AT CREATION.",
    ),
    declare(
        "mz_internal.mz_materialized_view_refreshes",
        "materialized_view_id text not null, last_completed_refresh mz_timestamp,"
        " next_refresh mz_timestamp",
        "SELECT s.id, CASE WHEN s.complete_through > 0 THEN s.complete_through END,"
        " CASE WHEN s.complete_through > 0 THEN s.complete_through"
        " + CAST(m.options::json->>'refresh every' AS BIGINT) END"
        " FROM raw.view_states s JOIN raw.maintained m ON m.id = s.id"
        " WHERE m.options::json->>'refresh every' IS NOT NULL"
        " OR m.options::json->>'refresh at' IS NOT NULL"
        " OR m.options::json->>'refresh at creation' IS NOT NULL",
        reads="view_states maintained",
    ),
    declare(
        "mz_internal.mz_materialized_view_versions",
        "id text not null, version bigint not null, event text not null, since mz_timestamp,"
        " until mz_timestamp, create_sql text not null, replacement_id text, replacement text,"
        ' "user" text, made_at timestamptz not null, expires_at timestamptz,'
        " kept boolean not null",
        "SELECT id, number, event, since, CASE WHEN until > 0 THEN until END, create_sql,"
        " nullif(replacement_id, ''), nullif(replacement_name, ''), nullif(\"user\", ''),"
        " made_at, expires_at, shard <> '' FROM raw.versions",
        reads="versions",
        comment="Every definition that a view had; kept: an undo can still bring its data back.",
    ),
    declare(
        "mz_internal.mz_frontiers",
        "object_id text not null, read_frontier mz_timestamp, write_frontier mz_timestamp",
        "SELECT t.id, CASE WHEN s.readable_from > 0 THEN s.readable_from END, f.frontier + 1"
        " FROM raw.exports t JOIN raw.states s ON s.id = t.id"
        " JOIN raw.sources u ON u.id = t.source_id JOIN raw.feeds f ON f.id = u.feed_id"
        " UNION ALL SELECT u.id, NULL, f.frontier + 1"
        " FROM raw.sources u JOIN raw.feeds f ON f.id = u.feed_id"
        " UNION ALL SELECT s.id, CASE WHEN s.hydrated THEN s.readable_from END,"
        " CASE WHEN s.hydrated AND NOT m.sealed THEN s.complete_through + 1 END"
        " FROM raw.view_states s JOIN raw.maintained m ON m.id = s.id",
        reads="exports states sources feeds view_states maintained",
        comment="Readable from, and complete before; a sealed view has no write frontier.",
    ),
)
