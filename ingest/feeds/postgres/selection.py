"""What the snapshot selects, so that its values are those that the stream would have sent."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from ingest.contract.commands import Export, ExportColumn
from ingest.feeds.copying.task import Query

Session = psycopg.Connection[tuple[Any, ...]]
_RAW = {
    "boolean",
    "bytea",
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "numeric",
    "text",
    "character varying",
    "character",
    "date",
    "timestamp",
    "timestamp with time zone",
}
_CAST_IS_OUTPUT = {17, 20, 21, 23, 25, 26, 114, 700, 701, 1043, 1082, 1083, 1114, 1184, 1186}
_CAST_IS_OUTPUT |= {1266, 1700, 2950, 3802}
_RANGE_PAGES = 8192
_MOST_RANGES = 128
_TID_SCANS = 140000
_INT8_DIGITS = 18
_PARTS = sql.SQL("""
    select c.oid::regclass::text, n.nspname, c.relname,
        (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::bigint
    from pg_class t
    cross join lateral (
        select relid from pg_partition_tree(t.oid) where t.relkind = 'p' and isleaf
        union all select t.oid where t.relkind <> 'p'
    ) leaf(relid)
    join pg_class c on c.oid = leaf.relid
    join pg_namespace n on n.oid = c.relnamespace
    where t.oid = %s
""")
_FILTER = sql.SQL("""
    select pg_get_expr(p.qual, p.relid) from pg_get_publication_tables(%s) p where p.relid = %s
""")


def selection(session: Session, export: Export, publication: str) -> tuple[Query, ...]:
    """Block ranges of the table, or of each leaf of a partitioned one; the last is open-ended, so
    that a table which grows while this is made is read whole. Raises psycopg's errors."""
    wanted = sql.SQL(", ").join(expression(column) for column in export.columns)
    quick = sql.SQL(", ").join(_scaled(c) or expression(c) for c in export.columns)
    condition = _condition(session, export, publication)
    queries = []
    for _, namespace, name, pages in session.execute(_PARTS, (export.reference,)):
        table = sql.Identifier(namespace, name)
        for block in _ranges(pages, ranged=session.info.server_version >= _TID_SCANS):
            source = sql.SQL("from only {} where {} and {}").format(table, block, condition)
            texts = (sql.SQL("select {} {}").format(some, source) for some in (wanted, quick))
            queries.append(Query(*(text.as_string(session) for text in texts)))
    return tuple(queries)


def expression(column: ExportColumn) -> sql.Composable:
    """The column in a form that arrives faithfully: binary where both sides agree on it, else the
    text that the stream has (a cast is not always the output function: booleans, inet)."""
    name = sql.Identifier(column.upstream_name)
    own = column.upstream_oid == column.type.oid
    if not column.as_text and not column.type.array and column.type.name in _RAW:
        if own:
            return name
        return sql.SQL("{}::{} as {}").format(name, sql.SQL(column.type.sql), name)
    if column.upstream_oid in _CAST_IS_OUTPUT:
        return sql.SQL("{}::text as {}").format(name, name)
    return sql.SQL("case when {}::text is not null then format('%s', {}) end as {}").format(
        name, name, name
    )


def _scaled(column: ExportColumn) -> sql.Composable | None:
    """A numeric as an integer, multiplied by its scale, where every value but NaN has one."""
    kind = column.type
    if column.as_text or kind.array or kind.name != "numeric" or not kind.precision:
        return None
    modifier = ((kind.precision << 16) | (kind.scale or 0)) + 4
    if column.upstream_oid != kind.oid or column.upstream_modifier != modifier:
        return None
    if kind.precision > _INT8_DIGITS:
        return None
    name, factor = sql.Identifier(column.upstream_name), sql.Literal(10 ** (kind.scale or 0))
    return sql.SQL("({} * {})::int8 as {}").format(name, factor, name)


def _ranges(pages: int, *, ranged: bool) -> list[sql.Composable]:
    count = min(_MOST_RANGES, -(-pages // _RANGE_PAGES)) if ranged else 1
    if count <= 1:
        return [sql.SQL("true")]
    edges = [pages * index // count for index in range(count)]
    from_ = [sql.SQL("ctid >= {}::tid").format(sql.Literal(f"({edge},0)")) for edge in edges]
    below = [sql.SQL("ctid < {}::tid").format(sql.Literal(f"({edge},0)")) for edge in edges[1:]]
    pairs = [sql.SQL(" and ").join(pair) for pair in zip(from_, below, strict=False)]
    return [*pairs, from_[-1]]


def _condition(session: Session, export: Export, publication: str) -> sql.Composable:
    """The publication's row filter, which upstream prints itself and which only it evaluates."""
    if session.info.server_version < 150000:
        return sql.SQL("true")
    row = session.execute(_FILTER, (publication, export.reference)).fetchone()
    return sql.SQL("({})").format(sql.SQL(row[0])) if row and row[0] else sql.SQL("true")
