"""mz_databases, mz_schemas, mz_roles, mz_clusters: what objects live in and belong to."""

from __future__ import annotations

from catalog.system.relation import declare

RELATIONS = (
    declare(
        "mz_catalog.mz_databases",
        "id text not null, oid oid not null, name text not null, owner_id text not null,"
        " privileges text[] not null",
        "SELECT id, oid, name, owner_id, [owner_id || '=UC/' || owner_id] FROM raw.databases",
        reads="databases",
    ),
    declare(
        "mz_catalog.mz_schemas",
        "id text not null, oid oid not null, database_id text, name text not null,"
        " owner_id text not null, privileges text[] not null",
        "SELECT id, oid, database_id, name, owner_id, [owner_id || '=UC/' || owner_id]"
        " FROM raw.schemas",
        reads="schemas",
    ),
    declare(
        "mz_catalog.mz_roles",
        "id text not null, oid oid not null, name text not null, inherit boolean not null,"
        " rolcanlogin boolean, rolsuper boolean",
        "SELECT id, oid, name, true, true, superuser FROM raw.roles",
        reads="roles",
    ),
    declare(
        "mz_catalog.mz_role_members",
        "role_id text not null, member text not null, grantor text not null",
    ),
    declare(
        "mz_catalog.mz_clusters",
        "id text not null, name text not null, owner_id text not null, privileges text[] not null,"
        " managed boolean not null, size text, replication_factor uint4, disk boolean,"
        " availability_zones text[], introspection_debugging boolean,"
        " introspection_interval interval",
        "SELECT 'u1', 'quickstart', 's1', ['s1=UC/s1'], true, 'local', 1, true, NULL, false, NULL",
    ),
    declare(
        "mz_catalog.mz_cluster_replicas",
        "id text not null, name text not null, cluster_id text not null, size text,"
        " availability_zone text, owner_id text not null, disk boolean",
        "SELECT 'u1', 'r1', 'u1', 'local', NULL, 's1', true",
    ),
    declare(
        "mz_internal.mz_feature_flags",
        "name text not null, value text not null",
        "SELECT name, value FROM raw.flags",
        reads="flags",
        comment="The region's feature flags that differ from their defaults.",
    ),
)
