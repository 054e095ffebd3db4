"""information_schema: tables, columns, schemata and what drivers ask beside them."""

from __future__ import annotations

from catalog.system.relation import declare

RELATIONS = (
    declare(
        "information_schema.schemata",
        "catalog_name text, schema_name text, schema_owner text",
        "SELECT coalesce(d.name, getvariable('database')), s.name, r.name FROM raw.schemas s"
        " LEFT JOIN raw.databases d ON d.id = s.database_id JOIN raw.roles r ON r.id = s.owner_id",
        reads="schemas databases roles",
    ),
    declare(
        "information_schema.tables",
        "table_catalog text, table_schema text, table_name text, table_type text,"
        " is_insertable_into text",
        "SELECT coalesce(d.name, getvariable('database')), s.name, o.name,"
        " CASE o.type WHEN 'table' THEN 'BASE TABLE' ELSE upper(replace(o.type, '-', ' ')) END,"
        " CASE WHEN o.type = 'table' AND o.source_id IS NULL THEN 'YES' ELSE 'NO' END"
        " FROM raw.objects o JOIN raw.schemas s ON s.id = o.schema_id"
        " LEFT JOIN raw.databases d ON d.id = s.database_id"
        " WHERE o.type IN ('table', 'source', 'view', 'materialized-view')",
        reads="objects schemas databases",
    ),
    declare(
        "information_schema.views",
        "table_catalog text, table_schema text, table_name text, view_definition text",
        "SELECT coalesce(d.name, getvariable('database')), s.name, o.name, o.definition"
        " FROM raw.objects o JOIN raw.schemas s ON s.id = o.schema_id"
        " LEFT JOIN raw.databases d ON d.id = s.database_id"
        " WHERE o.type = 'view'",
        reads="objects schemas databases",
    ),
    declare(
        "information_schema.columns",
        "table_catalog text, table_schema text, table_name text, column_name text,"
        " ordinal_position integer, column_default text, is_nullable text, data_type text,"
        " character_maximum_length integer, numeric_precision integer, numeric_scale integer,"
        " udt_name text",
        "SELECT coalesce(d.name, getvariable('database')), s.name, o.name, c.name, c.position,"
        ' c."default",'
        " CASE WHEN c.nullable THEN 'YES' ELSE 'NO' END,"
        " CASE WHEN c.type LIKE '%[]' THEN 'ARRAY' WHEN t.sql_name IS NULL THEN c.type"
        " ELSE t.sql_name END,"
        " CASE WHEN c.type LIKE 'character%' AND c.type_mod > 0 THEN c.type_mod - 4 END,"
        " CASE WHEN c.type_oid = 1700 AND c.type_mod > 0 THEN (c.type_mod - 4) // 65536 END,"
        " CASE WHEN c.type_oid = 1700 AND c.type_mod > 0 THEN (c.type_mod - 4) % 65536 END, t.name"
        " FROM raw.columns c JOIN raw.objects o ON o.id = c.id"
        " JOIN raw.schemas s ON s.id = o.schema_id"
        " LEFT JOIN raw.databases d ON d.id = s.database_id"
        " LEFT JOIN raw.types t ON t.oid = c.type_oid",
        reads="columns objects schemas databases types",
    ),
    declare(
        "information_schema.table_constraints",
        "constraint_catalog text, constraint_schema text, constraint_name text,"
        " table_catalog text, table_schema text, table_name text, constraint_type text",
    ),
    declare(
        "information_schema.key_column_usage",
        "constraint_catalog text, constraint_schema text, constraint_name text,"
        " table_catalog text, table_schema text, table_name text, column_name text,"
        " ordinal_position integer",
    ),
    declare(
        "information_schema.referential_constraints",
        "constraint_catalog text, constraint_schema text, constraint_name text",
    ),
    declare(
        "information_schema.routines",
        "routine_catalog text, routine_schema text, routine_name text, routine_type text",
    ),
    declare(
        "information_schema.enabled_roles",
        "role_name text",
        "SELECT name FROM raw.roles",
        reads="roles",
    ),
)
