"""PostgreSQL's catalog functions as DuckDB macros.

Macros are not hygienic: an alias inside one would capture the caller's, hence the names ending
in an underscore.
"""

from __future__ import annotations

SHAPES = (
    "redacted_(t_) AS regexp_replace(t_, '''(?:[^'']|'''')*''', '''<REDACTED>''', 'g')",
    "details_(d_, h_) AS CASE WHEN d_ <> '' OR h_ <> ''"
    " THEN CAST(json_object('detail', d_, 'hints', [h_]) AS VARCHAR) END",
)
"""What the relations' own queries use; there before them."""
MACROS = (
    "pg_get_userbyid(o_) AS (SELECT any_value(m_.rolname) FROM pgc.pg_roles m_ WHERE m_.oid = o_)",
    "pg_table_is_visible(o_) AS coalesce((SELECT any_value(n_.nspname IN ('public', 'pg_catalog',"
    " 'mz_catalog', 'mz_internal')) FROM pgc.pg_class m_ JOIN pgc.pg_namespace n_"
    " ON n_.oid = m_.relnamespace WHERE m_.oid = o_), false)",
    "always_(a_, b_, c_) AS true",
    "never_(a_, b_, c_) AS false",
    "nothing_(a_, b_, c_) AS NULL::varchar",
    "zero_(a_, b_, c_) AS 0::bigint",
    "pg_size_pretty_(n_) AS n_::varchar || ' bytes'",
    "format_type_(t_, mod_) AS (SELECT any_value(m_.sql_name"
    " || CASE WHEN t_ = 1700 AND mod_ > 0 THEN '(' || ((mod_ - 4) // 65536) || ','"
    " || ((mod_ - 4) % 65536) || ')' WHEN t_ IN (1042, 1043) AND mod_ > 4"
    " THEN '(' || (mod_ - 4) || ')' ELSE '' END) FROM raw.types m_ WHERE m_.oid = t_)",
    "first_(a_, b_, c_) AS a_",
    "pg_get_viewdef_(o_, p_) AS (SELECT any_value(m_.definition) FROM raw.objects m_"
    " WHERE m_.oid = o_::bigint)",
    "obj_description_(o_, c_) AS (SELECT any_value(m_.comment) FROM raw.comments m_"
    " WHERE m_.oid = o_::bigint AND m_.sub_id IS NULL)",
    "col_description_(o_, n_) AS (SELECT any_value(m_.comment) FROM raw.comments m_"
    " WHERE m_.oid = o_::bigint AND m_.sub_id = n_::bigint)",
    "pg_encoding_to_char(e_) AS 'UTF8'",
    "regtype_name(o_) AS (SELECT any_value(m_.sql_name) FROM raw.types m_ WHERE m_.oid = o_)",
    "regclass_name(o_) AS (SELECT any_value(m_.name) FROM raw.objects m_ WHERE m_.oid = o_)",
    "regnamespace_name(o_) AS (SELECT any_value(m_.name) FROM raw.schemas m_ WHERE m_.oid = o_)",
    "regclass_oid(n_) AS (SELECT any_value(m_.oid) FROM raw.objects m_"
    " WHERE m_.name = replace(split_part(n_, '.', -1), '\"', ''))",
    "regtype_oid(n_) AS (SELECT any_value(m_.oid) FROM raw.types m_"
    " WHERE m_.sql_name = n_ OR m_.name = n_)",
    "array_to_string_(a_, s_, x_) AS CASE WHEN len(a_) = 0 THEN ''"
    " ELSE list_aggregate(a_, 'string_agg', s_) END",
    "array_remove_(a_, v_) AS list_filter(a_, lambda y_: y_ <> v_)",
    "array_upper_(a_, n_) AS CASE WHEN len(a_) > 0 THEN len(a_) END",
    "generate_subscripts_(a_, n_) AS unnest(range(1, len(a_) + 1))",
    "pg_char_to_encoding(n_) AS 6",
    "current_setting_(n_, m_) AS CASE lower(n_) WHEN 'server_version' THEN '15.0'"
    " WHEN 'server_version_num' THEN '150000' WHEN 'search_path' THEN 'public'"
    " WHEN 'default_table_access_method' THEN 'heap' WHEN 'timezone' THEN 'UTC'"
    " WHEN 'server_encoding' THEN 'UTF8' WHEN 'client_encoding' THEN 'UTF8' END",
)
READS = ("types", "objects", "schemas", "roles", "columns", "comments")
"""Raw tables that macros look into."""

FUNCTIONS: dict[str, tuple[str, int]] = {
    "array_to_string": ("array_to_string_", 3),
    "array_remove": ("array_remove_", 2),
    "array_upper": ("array_upper_", 2),
    "col_description": ("col_description_", 2),
    "current_setting": ("current_setting_", 2),
    "format_type": ("format_type_", 2),
    "generate_subscripts": ("generate_subscripts_", 2),
    "obj_description": ("obj_description_", 2),
    "pg_encoding_to_char": ("pg_encoding_to_char", 1),
    "pg_get_expr": ("first_", 3),
    "pg_get_userbyid": ("pg_get_userbyid", 1),
    "pg_get_viewdef": ("pg_get_viewdef_", 2),
    "pg_size_pretty": ("pg_size_pretty_", 1),
    "pg_table_is_visible": ("pg_table_is_visible", 1),
    "pg_relation_is_publishable": ("never_", 3),
    "pg_is_in_recovery": ("never_", 3),
    "to_regclass": ("regclass_oid", 1),
    "to_regtype": ("regtype_oid", 1),
    **dict.fromkeys(
        (
            "has_any_column_privilege",
            "has_column_privilege",
            "has_database_privilege",
            "has_function_privilege",
            "has_schema_privilege",
            "has_table_privilege",
            "pg_collation_is_visible",
            "pg_conversion_is_visible",
            "pg_function_is_visible",
            "pg_statistics_obj_is_visible",
            "pg_type_is_visible",
        ),
        ("always_", 3),
    ),
    **dict.fromkeys(
        (
            "pg_get_constraintdef",
            "pg_get_function_arguments",
            "pg_get_function_result",
            "pg_get_indexdef",
            "pg_get_partkeydef",
            "pg_get_ruledef",
            "pg_get_serial_sequence",
            "pg_get_statisticsobjdef_columns",
            "pg_get_triggerdef",
            "pg_tablespace_location",
            "shobj_description",
        ),
        ("nothing_", 3),
    ),
    **dict.fromkeys(
        (
            "pg_database_size",
            "pg_relation_size",
            "pg_table_size",
            "pg_tablespace_size",
            "pg_total_relation_size",
        ),
        ("zero_", 3),
    ),
}
"""PostgreSQL function: macro, and how many arguments it takes (missing ones are NULL)."""
