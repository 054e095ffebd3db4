"""SHOW as queries over the system catalog, with Materialize's columns."""

from __future__ import annotations

from sqlglot import exp, parse_one

from catalog.errors import NotSupported
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.show import ShowObjects

_COMMENT = "coalesce(cm.comment, '') AS comment"
_NO_COMMENT = "'' AS comment"
_MATERIALIZED = ("o.name", "'quickstart' AS cluster", _COMMENT)
_COLUMNS = {
    "table": ("mz_tables", ("o.name", _COMMENT)),
    "source": (
        "mz_sources",
        ("o.name", "o.type", "'quickstart' AS cluster", _COMMENT),
    ),
    "view": ("mz_views", ("o.name", _COMMENT)),
    "materialized view": ("mz_materialized_views", _MATERIALIZED),
    "connection": ("mz_connections", ("o.name", "o.type", _COMMENT)),
    "secret": ("mz_secrets", ("o.name", _COMMENT)),
    "object": ("mz_objects", ("o.name", "o.type", _COMMENT)),
    "sink": ("mz_sinks", ("o.name", "o.type", "'' AS cluster", _COMMENT)),
    "type": ("mz_types", ("o.name", _COMMENT)),
}
_WHOLE = {
    "schema": ("mz_schemas", ("name", _NO_COMMENT)),
    "database": ("mz_databases", ("name", _NO_COMMENT)),
    "role": ("mz_roles", ("name", _NO_COMMENT)),
    "cluster": ("mz_clusters", ("name", "'r1 (local)' AS replicas", _NO_COMMENT)),
}
_REPLACEMENT = (
    "o.name",
    "t.name AS target",
    "'quickstart' AS cluster",
    "coalesce(st.hydrated, false) AS hydrated",
    "st.rows_added",
    "st.rows_removed",
    "st.rows_changed",
    _COMMENT,
)


def show_query(node: ShowObjects, database: str, schema: str) -> exp.Select:
    """The SELECT that a SHOW stands for, given the session's database and schema.

    Raises NotSupported for a kind that cannot be shown.
    """
    query = _rows(node, database, schema)
    if not node.where:
        return query
    ordered = query.args.get("order")
    filtered = exp.select("*").from_(query.subquery("shown"))
    filtered = filtered.where(parse_one(node.where, read="postgres"))
    return filtered if ordered is None or node.kind == "column" else filtered.order_by("name")


def _rows(node: ShowObjects, database: str, schema: str) -> exp.Select:
    if node.kind == "column":
        return _columns(node, database, schema)
    if node.kind == "replacement":
        return _replacements(node, database, schema)
    if node.kind in _WHOLE:
        relation, columns = _WHOLE[node.kind]
        query = exp.select(*columns).from_(f"mz_catalog.{relation} AS o").order_by("name")
        if node.kind == "schema":
            query = _of_database(query, node.in_schema.last if node.in_schema else database)
        return _like(query, "o.name", node.like)
    if node.kind not in _COLUMNS:
        message = f"SHOW {node.kind.upper()}S is not supported yet"
        raise NotSupported(message)
    relation, columns = _COLUMNS[node.kind]
    query = exp.select(*columns).from_(f"mz_catalog.{relation} AS o").order_by("o.name")
    query = _commented(query, "o.id", "cm.object_sub_id IS NULL")
    query = _in_schema(query, node.in_schema, database, schema)
    if node.on_source is not None:
        query = _on_source(query, node.on_source, database, schema)
    return _like(query, "o.name", node.like)


def _replacements(node: ShowObjects, database: str, schema: str) -> exp.Select:
    """Replacements: of one view, or those in a schema."""
    query = (
        exp.select(*_REPLACEMENT)
        .from_("mz_catalog.mz_replacement_materialized_views AS o")
        .join("mz_catalog.mz_materialized_views AS t", on="t.id = o.target_id")
        .join(
            "mz_internal.mz_replacement_statistics AS st",
            on="st.replacement_id = o.id",
            join_type="left",
        )
        .order_by("o.name")
    )
    query = _commented(query, "o.id", "cm.object_sub_id IS NULL")
    if node.of is None:
        query = _in_schema(query, node.in_schema, database, schema)
        return _like(query, "o.name", node.like)
    full = _parts(node.of, database, schema)
    query = (
        query.join("mz_catalog.mz_schemas AS s", on="s.id = t.schema_id")
        .join("mz_catalog.mz_databases AS d", on="d.id = s.database_id")
        .where(_equals("t.name", full[2]))
        .where(_equals("s.name", full[1]))
        .where(_equals("d.name", full[0]))
    )
    return _like(query, "o.name", node.like)


def _commented(query: exp.Select, item: str, place: str) -> exp.Select:
    on = f"cm.id = {item} AND {place}"
    return query.join("mz_internal.mz_comments AS cm", on=on, join_type="left")


def _equals(column: str, value: str) -> exp.Expr:
    return exp.EQ(this=parse_one(column, read="postgres"), expression=exp.Literal.string(value))


def _like(query: exp.Select, column: str, pattern: str | None) -> exp.Select:
    if pattern is None:
        return query
    test = exp.Like(
        this=parse_one(column, read="postgres"), expression=exp.Literal.string(pattern)
    )
    return query.where(test)


def _of_database(query: exp.Select, database: str) -> exp.Select:
    query = query.join("mz_catalog.mz_databases AS d", on="d.id = o.database_id", join_type="left")
    named = exp.column("name", table="o").as_("name")
    comment = exp.alias_(exp.Literal.string(""), "comment")
    query = query.select(named, comment, append=False)
    either = exp.or_(_equals("d.name", database), parse_one("d.name IS NULL", read="postgres"))
    return query.where(either).order_by("o.name", append=False)


def _in_schema(query: exp.Select, name: Name | None, database: str, schema: str) -> exp.Select:
    if name is not None:
        schema = name.last
        database = name.parts[0] if len(name.parts) > 1 else database
    return (
        query.join("mz_catalog.mz_schemas AS s", on="s.id = o.schema_id")
        .join("mz_catalog.mz_databases AS d", on="d.id = s.database_id", join_type="left")
        .where(_equals("s.name", schema))
        .where(exp.or_(_equals("d.name", database), parse_one("d.name IS NULL", read="postgres")))
    )


def _parts(name: Name, database: str, schema: str) -> tuple[str, str, str]:
    full = (database, schema)[: 3 - len(name.parts)] + name.parts
    return full[0], full[1], full[2]


def _on_source(query: exp.Select, name: Name, database: str, schema: str) -> exp.Select:
    full = _parts(name, database, schema)
    return (
        query.join("mz_catalog.mz_sources AS src", on="src.id = o.source_id")
        .join("mz_catalog.mz_schemas AS ss", on="ss.id = src.schema_id")
        .join("mz_catalog.mz_databases AS sd", on="sd.id = ss.database_id")
        .where(_equals("src.name", full[2]))
        .where(_equals("ss.name", full[1]))
        .where(_equals("sd.name", full[0]))
    )


def _columns(node: ShowObjects, database: str, schema: str) -> exp.Select:
    query = (
        exp.select("c.name", "c.nullable", "c.type", _COMMENT)
        .from_("mz_catalog.mz_columns AS c")
        .join("mz_catalog.mz_relations AS o", on="o.id = c.id")
        .order_by("c.position")
    )
    query = _commented(query, "c.id", "cm.object_sub_id = c.position")
    name = node.of
    if name is None:
        raise NotSupported("SHOW COLUMNS needs FROM and an object's name")
    full = _parts(name, database, schema)
    place = Name(full[:2])
    query = _in_schema(query, place, database, schema).where(_equals("o.name", full[2]))
    return _like(query, "c.name", node.like)
