"""What stands in the way of one table, with the statement that clears it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
from psycopg import sql

from ingest.contract.upstream import Check, UpstreamColumn

Session = psycopg.Connection[tuple[Any, ...]]
Row = dict[str, Any]


def of(session: Session, table: Row, columns: list[UpstreamColumn]) -> tuple[Check, ...]:
    """The problems of one row of describe's tables query, worst first."""
    found = [
        *_privileges(session, table),
        *_row_security(session, table),
        *_identity(session, table),
        *_shape(table, columns),
    ]
    return tuple(sorted(found, key=lambda check: check.level != "error"))


def _privileges(session: Session, table: Row) -> list[Check]:
    found = []
    user = sql.Identifier(session.info.user)
    if not table["schema_usage"]:
        grant = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(
            sql.Identifier(table["namespace"]), user
        )
        found.append(_missing(session, f"USAGE on schema {table['namespace']}", grant))
    if not table["selectable"]:
        grant = sql.SQL("GRANT SELECT ON {} TO {}").format(_name(table), user)
        found.append(_missing(session, f"SELECT on {table['name']}", grant))
    return found


def _missing(session: Session, what: str, grant: sql.Composed) -> Check:
    return Check(
        "privilege",
        "error",
        f"missing privilege: {what}",
        "The snapshot reads the table with SELECT.",
        "Grant it to the connection's user.",
        grant.as_string(session),
    )


def _row_security(session: Session, table: Row) -> list[Check]:
    if not table["row_security"]:
        return []
    role = sql.SQL("ALTER ROLE {} BYPASSRLS").format(sql.Identifier(session.info.user))
    return [
        Check(
            "row level security",
            "error",
            "row level security hides rows from the connection's user",
            "The snapshot would lack the rows that its policies hide, while the stream has all.",
            "Let the connection's user bypass row level security.",
            role.as_string(session),
        )
    ]


def _identity(session: Session, table: Row) -> list[Check]:
    identity = table["identity"]
    keyed = {"d": bool(table["key"]), "i": bool(table["identity_key"]), "f": True, "n": False}
    if keyed[identity]:
        return []
    full = sql.SQL("ALTER TABLE {} REPLICA IDENTITY FULL").format(_name(table))
    return [
        Check(
            "no key",
            "error",
            "referenced items not tables with REPLICA IDENTITY FULL",
            f"{table['namespace']}.{table['name']} has neither a primary key nor a replica "
            "identity: changes would not say which row they are about, and PostgreSQL refuses "
            "UPDATE and DELETE on it once it is published.",
            "Add a primary key, or log whole old rows.",
            full.as_string(session),
        )
    ]


def _shape(table: Row, columns: list[UpstreamColumn]) -> list[Check]:
    found = []
    if table["persistence"] != "p":
        found.append(
            Check(
                "unlogged",
                "error",
                "the table is unlogged or temporary",
                "Its changes are not in the WAL.",
                "Make it a logged table.",
            )
        )
    if table["filter"]:
        found.append(
            Check(
                "row filter",
                "warning",
                f"the publication filters rows: {table['filter']}",
                "Only rows that pass the filter arrive.",
                "Drop the filter from the publication to have all rows.",
            )
        )
    counts = Counter(column.name.lower() for column in columns)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        found.append(
            Check(
                "column names",
                "warning",
                f"columns that differ only in case: {', '.join(twice)}",
                "The lake's column names ignore case.",
                "Exclude all but one of each.",
            )
        )
    return found


def _name(table: Row) -> sql.Identifier:
    return sql.Identifier(table["namespace"], table["name"])
