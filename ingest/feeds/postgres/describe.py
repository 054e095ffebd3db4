"""The tables of a publication, from a handful of catalog queries whatever their number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from ingest.contract.upstream import PostgresTarget, Reference, ReplicaIdentity, UpstreamColumn
from ingest.feeds.postgres import faults, problems
from ingest.feeds.postgres.connect import connect
from ingest.feeds.postgres.typemap import Upstream, native

Session = psycopg.Connection[tuple[Any, ...]]
Row = dict[str, Any]
IDENTITIES: dict[str, ReplicaIdentity] = {
    "d": "default",
    "f": "full",
    "i": "index",
    "n": "nothing",
}

_TABLES = sql.SQL("""
    select c.oid, n.nspname as namespace, c.relname as name, c.relkind as kind,
        c.relpersistence as persistence, c.relreplident as identity,
        c.relispartition as partition, row_security_active(c.oid) as row_security,
        c.reltuples::bigint as rows,
        case when c.relpages > 0 then c.relpages::bigint * current_setting('block_size')::bigint
            else -1 end as bytes,
        has_schema_privilege(n.oid, 'USAGE') as schema_usage,
        has_table_privilege(c.oid, 'SELECT') as selectable,
        {attributes} as attributes, {filter} as filter,
        k.indkey::int2[] as key, r.indkey::int2[] as identity_key
    from pg_get_publication_tables({publication}) p
    join pg_class c on c.oid = p.relid
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_index k on k.indrelid = c.oid and k.indisprimary and k.indimmediate
    left join pg_index r on r.indrelid = c.oid and r.indisreplident
    where {wanted}
    order by n.nspname, c.relname
""")
_WANTED = sql.SQL(
    "(n.nspname, c.relname) in (select * from unnest({namespaces}::text[], {names}::text[]))"
)
_COLUMNS = sql.SQL("""
    select a.attrelid, a.attname, a.attnum::int, format_type(a.atttypid, a.atttypmod),
        a.atttypid, a.atttypmod, a.attnotnull, t.typtype, t.typelem, e.typtype
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
    where a.attrelid = any(%s) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by a.attrelid, a.attnum
""")
_DOMAINS = sql.SQL("""
    select t.oid, t.typbasetype, t.typtypmod, b.typtype, b.typelem, e.typtype, t.typnotnull
    from pg_type t
    join pg_type b on b.oid = t.typbasetype
    left join pg_type e on e.oid = b.typelem and b.typcategory = 'A'
    where t.typtype = 'd'
""")


def list_references(
    target: PostgresTarget, publication: str, only: Iterable[tuple[str, str]] | None = None
) -> tuple[Reference, ...]:
    """Every table that `publication` publishes, in name order, or those of `only`
    ((namespace, name) pairs) that it does.

    Generated columns and those outside a column list are left out: they are not published.
    Raises Transient or Terminal when the upstream cannot be asked.
    """
    session = connect(target)
    try:
        return references(session, publication, None if only is None else list(only))
    except psycopg.Error as error:
        raise faults.running(error) from None
    finally:
        session.close()


def references(
    session: Session, publication: str, only: list[tuple[str, str]] | None = None
) -> tuple[Reference, ...]:
    """`list_references` on a session that is open already; raises psycopg's errors."""
    tables = _tables(session, publication, only)
    if not tables:
        return ()
    columns = _columns(session, [table["oid"] for table in tables])
    return tuple(_reference(session, table, columns[table["oid"]]) for table in tables)


def _tables(session: Session, publication: str, only: list[tuple[str, str]] | None) -> list[Row]:
    lists = session.info.server_version >= 150000
    wanted: sql.Composable = sql.SQL("true")
    if only is not None:
        namespaces, names = [pair[0] for pair in only], [pair[1] for pair in only]
        wanted = _WANTED.format(namespaces=namespaces, names=names)
    query = _TABLES.format(
        attributes=sql.SQL("p.attrs::int2[]" if lists else "null::int2[]"),
        filter=sql.SQL("pg_get_expr(p.qual, p.relid)" if lists else "null::text"),
        publication=sql.Literal(publication),
        wanted=wanted,
    )
    with session.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query).fetchall()


def _columns(session: Session, oids: list[int]) -> dict[int, list[UpstreamColumn]]:
    domains = {row[0]: row[1:] for row in session.execute(_DOMAINS)}
    found: dict[int, list[UpstreamColumn]] = defaultdict(list)
    for row in session.execute(_COLUMNS, (oids,)):
        oid, modifier, kind, element, element_kind = row[4], row[5], row[7], row[8], row[9]
        not_null = row[6]
        while kind == "d":
            oid, modifier, kind, element, element_kind, strict = domains[oid]
            not_null = not_null or strict
        element = element if element_kind else 0
        type_, as_text = native(Upstream(oid, modifier, kind, element, element_kind or "b"))
        found[row[0]].append(
            UpstreamColumn(row[1], row[2], row[3], row[4], row[5], not not_null, type_, as_text)
        )
    return found


def _reference(session: Session, table: Row, columns: list[UpstreamColumn]) -> Reference:
    listed = table["attributes"]
    if listed is not None:
        columns = [column for column in columns if column.position in listed]
    return Reference(
        table["namespace"],
        table["name"],
        table["oid"],
        tuple(columns),
        _key(table, columns),
        IDENTITIES[table["identity"]],
        table["rows"],
        table["bytes"],
        problems.of(session, table, columns),
    )


def _key(table: Row, columns: list[UpstreamColumn]) -> tuple[str, ...]:
    """What identifies a row in the stream: the index that upstream logs, or the primary key."""
    positions = table["identity_key"] if table["identity"] == "i" else table["key"]
    names = {column.position: column.name for column in columns}
    if table["identity"] == "n" or not positions or not set(positions) <= set(names):
        return ()
    return tuple(names[position] for position in positions)
