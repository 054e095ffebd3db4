"""What PostgreSQL calls a column that was not given a name."""

from __future__ import annotations

from sqlglot import exp

from catalog.query.calls import pg_call
from catalog.query.names import fold

_TYPE_NAMES = {
    "boolean": "bool",
    "integer": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "int": "int4",
    "real": "float4",
    "double precision": "float8",
    "timestamp with time zone": "timestamptz",
    "character varying": "varchar",
    "decimal": "numeric",
    "char": "bpchar",
}
_NAMED: dict[type[exp.Expr], str] = {
    exp.Case: "case",
    exp.Array: "array",
    exp.Exists: "exists",
    exp.Coalesce: "coalesce",
    exp.Extract: "extract",
    exp.Tuple: "row",
    exp.AtTimeZone: "timezone",
    exp.CurrentDate: "current_date",
    exp.Boolean: "bool",
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
    exp.CurrentSchema: "current_schema",
    exp.CurrentSchemas: "current_schemas",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentDatabase: "current_database",
    exp.CurrentVersion: "version",
    exp.JSONBObjectAgg: "jsonb_object_agg",
    exp.ArrayPosition: "array_position",
    exp.ArrayAppend: "array_append",
    exp.StringToArray: "string_to_array",
    exp.Encode: "encode",
    exp.SHA2Digest: "sha256",
    exp.ExplodingGenerateSeries: "generate_series",
    exp.GenerateSeries: "generate_series",
    exp.Explode: "unnest",
}


def output_name(node: exp.Expr) -> str:
    """The name of a select item: its alias, its column, its function, or `?column?`."""
    if isinstance(node, exp.Alias):
        return fold(node.args["alias"])
    if isinstance(node, exp.Column):
        return fold(node.this)
    if isinstance(node, exp.Cast):
        inner = output_name(node.this)
        return inner if inner != "?column?" else _type_name(node.to)
    if isinstance(node, exp.Paren | exp.Bracket | exp.Window | exp.Filter | exp.IgnoreNulls):
        return output_name(node.this)
    if isinstance(node, exp.Subquery):
        return _subquery(node)
    named = _NAMED.get(type(node))
    if named:
        return named
    called = pg_call(node)
    return called.name if called else "?column?"


def _subquery(node: exp.Subquery) -> str:
    query = node.this
    if isinstance(query, exp.Select) and query.expressions:
        return output_name(query.expressions[0])
    return "?column?"


def _type_name(type_: exp.DataType) -> str:
    if type_.this == exp.DType.ARRAY:
        return _type_name(type_.expressions[0]) if type_.expressions else "array"
    name = type_.sql(dialect="postgres").lower().split("(")[0].strip('" ')
    return _TYPE_NAMES.get(name, name)
