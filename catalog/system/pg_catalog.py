"""pg_catalog: enough for psql, SQLAlchemy and drivers to see what is there."""

from __future__ import annotations

from catalog.system.relation import declare

_CLASS_COLUMNS = (
    "oid oid not null, relname text not null, relnamespace oid not null, reltype oid not null,"
    " reloftype oid, relowner oid not null, relam oid not null, relfilenode oid,"
    " reltablespace oid not null, relpages integer, reltuples real not null,"
    " relallvisible integer,"
    " reltoastrelid oid not null, relhasindex boolean not null, relisshared boolean,"
    " relpersistence text not null, relkind text not null, relnatts smallint not null,"
    " relchecks smallint not null, relhasrules boolean not null, relhastriggers boolean not null,"
    " relhassubclass boolean not null, relrowsecurity boolean not null,"
    " relforcerowsecurity boolean not null, relispopulated boolean, relreplident text not null,"
    " relispartition boolean not null, relhasoids boolean not null, relacl text[],"
    " reloptions text[], relpartbound text"
)
_CLASS = (
    "SELECT o.oid, o.name, s.oid, 0, 0, r.oid, 0, o.oid, 0, 0, -1, 0, 0, false, false, 'p',"
    " CASE o.type WHEN 'view' THEN 'v' WHEN 'materialized-view' THEN 'm' ELSE 'r' END,"
    " (SELECT count(*) FROM raw.columns c"
    " WHERE c.id = o.id), 0, false, false, false, false, false, true, 'd', false, false,"
    " NULL, NULL, NULL FROM raw.objects o JOIN raw.schemas s ON s.id = o.schema_id"
    " JOIN raw.roles r ON r.id = o.owner_id"
    " WHERE o.type IN ('table', 'source', 'view', 'materialized-view')"
)
_TYPE = (
    "SELECT oid, name, 11, 10, length, length > 0, CASE WHEN category = 'A' THEN 'b' ELSE 'b' END,"
    " category, false, true, ',', 0, element_oid, array_oid, '-', '-', 0, -1, false, 0, NULL,"
    " NULL FROM raw.types"
)

RELATIONS = (
    declare(
        "pg_catalog.pg_namespace",
        "oid oid not null, nspname text not null, nspowner oid not null, nspacl text[]",
        "SELECT oid, name, owner_oid, NULL FROM raw.schemas",
        reads="schemas",
    ),
    declare("pg_catalog.pg_class", _CLASS_COLUMNS, _CLASS, reads="objects schemas roles columns"),
    declare(
        "pg_catalog.pg_attribute",
        "attrelid oid not null, attname text not null, atttypid oid not null,"
        " attstattarget integer, attlen smallint, attnum smallint not null, attndims integer,"
        " atttypmod integer not null, attnotnull boolean not null, atthasdef boolean not null,"
        " attidentity text not null, attgenerated text not null, attisdropped boolean not null,"
        " attislocal boolean, attcollation oid not null, attstorage text, attcompression text,"
        " attacl text[], attoptions text[], attfdwoptions text[], atthasmissing boolean",
        "SELECT o.oid, c.name, c.type_oid, -1, -1, c.position, 0, c.type_mod, NOT c.nullable,"
        " c.\"default\" IS NOT NULL, '', '', false, true, 0, 'x', '', NULL, NULL, NULL, false"
        " FROM raw.columns c JOIN raw.objects o ON o.id = c.id",
        reads="columns objects",
    ),
    declare(
        "pg_catalog.pg_type",
        "oid oid not null, typname text not null, typnamespace oid not null,"
        " typowner oid not null, typlen smallint not null, typbyval boolean,"
        " typtype text not null,"
        " typcategory text, typispreferred boolean, typisdefined boolean, typdelim text not null,"
        " typrelid oid not null, typelem oid not null, typarray oid not null, typinput text,"
        " typreceive text, typcollation oid not null, typtypmod integer not null,"
        " typnotnull boolean not null, typbasetype oid not null, typdefault text, typacl text[]",
        _TYPE,
        reads="types",
    ),
    declare(
        "pg_catalog.pg_database",
        "oid oid not null, datname text not null, datdba oid not null, encoding integer not null,"
        " datlocprovider text, datistemplate boolean not null, datallowconn boolean not null,"
        " datconnlimit integer, datcollate text, datctype text, daticulocale text,"
        " datcollversion text, dattablespace oid, datacl text[]",
        "SELECT d.oid, d.name, r.oid, 6, 'c', false, true, -1, 'C', 'C', NULL, NULL, 0, NULL"
        " FROM raw.databases d JOIN raw.roles r ON r.id = d.owner_id",
        reads="databases roles",
    ),
    declare(
        "pg_catalog.pg_roles",
        "oid oid not null, rolname text not null, rolsuper boolean, rolinherit boolean,"
        " rolcreaterole boolean, rolcreatedb boolean, rolcanlogin boolean, rolreplication boolean,"
        " rolconnlimit integer, rolpassword text, rolvaliduntil timestamptz, rolbypassrls boolean,"
        " rolconfig text[]",
        "SELECT oid, name, superuser, true, superuser, superuser, true, false, -1, '********',"
        " NULL, superuser, NULL FROM raw.roles",
        reads="roles",
    ),
    declare(
        "pg_catalog.pg_user",
        "usename text not null, usesysid oid not null, usecreatedb boolean, usesuper boolean,"
        " userepl boolean, usebypassrls boolean, passwd text, valuntil timestamptz,"
        " useconfig text[]",
        "SELECT name, oid, superuser, superuser, false, superuser, '********', NULL, NULL"
        " FROM raw.roles",
        reads="roles",
    ),
    declare(
        "pg_catalog.pg_tables",
        "schemaname text, tablename text, tableowner text, tablespace text, hasindexes boolean,"
        " hasrules boolean, hastriggers boolean, rowsecurity boolean",
        "SELECT s.name, o.name, r.name, NULL, false, false, false, false FROM raw.objects o"
        " JOIN raw.schemas s ON s.id = o.schema_id JOIN raw.roles r ON r.id = o.owner_id"
        " WHERE o.type IN ('table', 'source')",
        reads="objects schemas roles",
    ),
    declare(
        "pg_catalog.pg_views",
        "schemaname text, viewname text, viewowner text, definition text",
        "SELECT s.name, o.name, r.name, o.definition FROM raw.objects o"
        " JOIN raw.schemas s ON s.id = o.schema_id JOIN raw.roles r ON r.id = o.owner_id"
        " WHERE o.type = 'view'",
        reads="objects schemas roles",
    ),
    declare(
        "pg_catalog.pg_attrdef",
        "oid oid not null, adrelid oid not null, adnum smallint not null, adbin text not null",
        'SELECT o.oid * 1000 + c.position, o.oid, c.position, c."default" FROM raw.columns c'
        ' JOIN raw.objects o ON o.id = c.id WHERE c."default" IS NOT NULL',
        reads="columns objects",
    ),
    declare(
        "pg_catalog.pg_am",
        "oid oid not null, amname text not null, amhandler text, amtype text",
        "SELECT 2, 'heap', '-', 't'",
    ),
    declare(
        "pg_catalog.pg_settings",
        "name text, setting text, unit text, category text, short_desc text, context text",
        "SELECT 'max_index_keys', '32', NULL, 'Preset Options', '', 'internal'",
    ),
)
