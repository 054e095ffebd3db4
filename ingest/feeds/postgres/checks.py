"""Is this server, and this publication, fit to be followed? Item by item, with the remedy."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from ingest.contract.upstream import Check, PostgresTarget
from ingest.errors import HeadraceError
from ingest.feeds.postgres import faults
from ingest.feeds.postgres.connect import connect

OLDEST = 120000
Row = dict[str, Any]
_SERVER = sql.SQL("""
    select current_setting('server_version') as version,
        current_setting('server_version_num')::int as number,
        current_setting('wal_level') as wal_level,
        current_setting('max_replication_slots')::int as slots,
        (select count(*) from pg_replication_slots)::int as slots_used,
        current_setting('max_wal_senders')::int as senders,
        (select count(*) from pg_stat_replication)::int as senders_used,
        r.rolreplication or r.rolsuper or exists (
            select from pg_roles m where m.rolname in ('rds_replication', 'rds_superuser')
                and pg_has_role(m.oid, 'member')) as replicates
    from pg_roles r where r.rolname = current_user
""")
_PUBLICATION = sql.SQL("""
    select p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate,
        coalesce((to_jsonb(p) ->> 'pubviaroot')::boolean, false) as via_root,
        (select count(*) from pg_get_publication_tables(p.pubname))::int as tables,
        exists (select from pg_publication_rel l join pg_class c on c.oid = l.prrelid
            where l.prpubid = p.oid and c.relkind = 'p') as partitioned
    from pg_publication p where p.pubname = %s
""")
_PUBLICATIONS = sql.SQL("select pubname from pg_publication order by 1 limit 20")


def check_connection(target: PostgresTarget) -> tuple[Check, ...]:
    """Look at the server as a replication upstream. Never raises for what the upstream is or
    lacks: an unreachable server is an `error` item named `reachable`."""
    try:
        session = connect(target)
    except HeadraceError as error:
        return (_failed("reachable", error),)
    with session:
        try:
            with session.cursor(row_factory=dict_row) as cursor:
                found = cursor.execute(_SERVER).fetchone() or {}
        except psycopg.Error as error:
            return (_failed("reachable", faults.running(error)),)
        reached = f"{target.host}:{target.port} answers as {target.user}"
        return (Check("reachable", "ok", reached), *_server(session, found))


def check_publication(target: PostgresTarget, publication: str) -> tuple[Check, ...]:
    """Look at one publication: it exists, has tables, and publishes every operation."""
    try:
        session = connect(target)
    except HeadraceError as error:
        return (_failed("reachable", error),)
    with session:
        try:
            with session.cursor(row_factory=dict_row) as cursor:
                found = cursor.execute(_PUBLICATION, (publication,)).fetchone()
            others = [row[0] for row in session.execute(_PUBLICATIONS)]
        except psycopg.Error as error:
            return (_failed("reachable", faults.running(error)),)
        if found is None:
            return (_no_publication(session, publication, others),)
        exists = Check("publication exists", "ok", f'publication "{publication}" exists')
        return (exists, *_published(session, publication, found))


def _failed(name: str, error: HeadraceError) -> Check:
    texts = (error.message, error.detail or "", error.hint or "")
    return Check(name, "error", *texts, sqlstate=error.sqlstate)


def _server(session: psycopg.Connection[tuple[Any, ...]], found: Row) -> list[Check]:
    role = sql.SQL("ALTER ROLE {} REPLICATION").format(sql.Identifier(session.info.user))
    return [
        _item(
            "version",
            found["number"] >= OLDEST,
            f"PostgreSQL {found['version']}",
            Check(
                "version",
                "error",
                f"PostgreSQL {found['version']} is too old",
                "Logical replication here needs PostgreSQL 12 or later.",
                "Upgrade it.",
            ),
        ),
        _item(
            "wal level",
            found["wal_level"] == "logical",
            "wal_level is logical",
            Check(
                "wal level",
                "error",
                f"wal_level is {found['wal_level']}",
                "Changes can only be decoded from a logical WAL.",
                "Set it and restart the server.",
                "ALTER SYSTEM SET wal_level = 'logical'",
            ),
        ),
        _free("replication slots", "max_replication_slots", found["slots"], found["slots_used"]),
        _free("wal senders", "max_wal_senders", found["senders"], found["senders_used"]),
        _item(
            "replication role",
            bool(found["replicates"]),
            f"{session.info.user} may replicate",
            Check(
                "replication role",
                "error",
                f"{session.info.user} may not replicate",
                "Reading the WAL needs the REPLICATION attribute.",
                "Grant it to the connection's user.",
                role.as_string(session),
            ),
        ),
    ]


def _free(name: str, setting: str, most: int, used: int) -> Check:
    if used + 1 < most:
        return Check(name, "ok", f"{used} of {most} {name} in use")
    statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(
        sql.Identifier(setting), sql.Literal(most + 10)
    )
    level = "error" if used >= most else "warning"
    return Check(
        name,
        "error" if level == "error" else "warning",
        f"{used} of {most} {name} in use",
        "A feed holds one, and a second while it takes a snapshot.",
        f"Free one, or raise {setting} and restart the server.",
        statement.as_string(None),
    )


def _item(name: str, passed: bool, summary: str, failure: Check) -> Check:  # noqa: FBT001
    return Check(name, "ok", summary) if passed else failure


def _no_publication(
    session: psycopg.Connection[tuple[Any, ...]], publication: str, others: list[str]
) -> Check:
    statement = sql.SQL("CREATE PUBLICATION {} FOR ALL TABLES").format(sql.Identifier(publication))
    there = f"There are: {', '.join(others)}." if others else "The database has none."
    return Check(
        "publication exists",
        "error",
        f'publication "{publication}" does not exist',
        there,
        "Create it upstream, or name one that is there.",
        statement.as_string(session),
    )


def _published(
    session: psycopg.Connection[tuple[Any, ...]], publication: str, found: Row
) -> list[Check]:
    name = sql.Identifier(publication)
    add = sql.SQL("ALTER PUBLICATION {} ADD TABLE ...").format(name)
    operations = sql.SQL(
        "ALTER PUBLICATION {} SET (publish = 'insert, update, delete, truncate')"
    ).format(name)
    root = sql.SQL("ALTER PUBLICATION {} SET (publish_via_partition_root = true)").format(name)
    kinds = ("insert", "update", "delete", "truncate")
    missing = [kind for kind in kinds if not found[f"pub{kind}"]]
    checks = [
        _item(
            "publication tables",
            found["tables"] > 0,
            f"{found['tables']} tables published",
            Check(
                "publication tables",
                "error",
                f'publication "{publication}" is empty',
                "It publishes no table.",
                "Add the tables to it.",
                add.as_string(session),
            ),
        ),
        _item(
            "publication operations",
            not missing,
            "every operation is published",
            Check(
                "publication operations",
                "error",
                f"not published: {', '.join(missing)}",
                "Changes that are not published would be lost without a trace.",
                "Publish every operation.",
                operations.as_string(session),
            ),
        ),
    ]
    if found["partitioned"] and not found["via_root"]:
        checks.append(
            Check(
                "partitions",
                "warning",
                "partitions are published one by one",
                "The partitioned table itself is not a reference.",
                "Publish by the root to have it as one table.",
                root.as_string(session),
            )
        )
    return checks
