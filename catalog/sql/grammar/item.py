"""What every kind of item shares: DROP, ALTER .. RENAME TO; and CREATE SCHEMA, CREATE DATABASE."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.replacement import alter_materialized_view
from catalog.sql.grammar.secret import alter_secret
from catalog.sql.grammar.source import alter_source
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.legacy import AddSubsources, DropSubsources
from catalog.sql.nodes.names import ItemKind
from catalog.sql.nodes.replacement import ApplyReplacement, RollbackReplacement, SetGuard
from catalog.sql.nodes.secret import AlterSecret
from catalog.sql.nodes.source import RefreshReferences

KINDS = ("SECRET", "CONNECTION", "SOURCE", "TABLE", "VIEW", "SCHEMA", "DATABASE")
"""Kinds of one word; MATERIALIZED VIEW and REPLACEMENT come beside them."""
OTHER_KINDS = (
    "SINK",
    "INDEX",
    "CLUSTER REPLICA",
    "CLUSTER",
    "ROLE",
    "USER",
    "TYPE",
    "NETWORK POLICY",
    "OWNED",
    "SUBSOURCE",
    "CONTINUAL TASK",
    "DEFAULT PRIVILEGES",
    "FUNCTION",
    "EXTENSION",
    "PUBLICATION",
)
_OTHER_CHANGES = ("OWNER", "SET", "RESET", "ADD", "DROP", "ALTER", "SWAP")


def create_schema(cursor: Cursor) -> CreateNamespace:
    """After `CREATE SCHEMA`."""
    return CreateNamespace("schema", if_not_exists=cursor.if_not_exists(), name=cursor.name())


def create_database(cursor: Cursor) -> CreateNamespace:
    """After `CREATE DATABASE`."""
    return CreateNamespace("database", if_not_exists=cursor.if_not_exists(), name=cursor.name())


def drop(cursor: Cursor) -> Drop:
    """After `DROP`."""
    _refuse_other_kind(cursor, "DROP")
    kind, replacement = item_kind(cursor, *KINDS)
    if_exists = cursor.if_exists()
    names = cursor.listed(cursor.name)
    cascade = cursor.accept_one_of("CASCADE", "RESTRICT") == "CASCADE"
    return Drop(kind, names, if_exists, cascade, replacement)


def item_kind(cursor: Cursor, *kinds: str) -> tuple[ItemKind, bool]:
    """Take what kind of item comes next, and whether it is said to be a replacement.

    `kinds` are named in the error when it is none.
    """
    if cursor.accept("REPLACEMENT"):
        cursor.accept("MATERIALIZED", "VIEW")
        return "materialized view", True
    if cursor.accept("MATERIALIZED"):
        cursor.expect("VIEW")
        return "materialized view", False
    taken = cursor.accept_one_of(*KINDS)
    return cast(ItemKind, (taken or cursor.one_of(*kinds)).lower()), False


_Alter = (
    Rename
    | RefreshReferences
    | AddSubsources
    | DropSubsources
    | AlterSecret
    | ApplyReplacement
    | RollbackReplacement
    | SetGuard
)


def alter(cursor: Cursor) -> _Alter:
    """After `ALTER`: RENAME for every kind, and what some kinds have beside it."""
    _refuse_other_kind(cursor, "ALTER")
    kind = item_kind(cursor, *KINDS)[0].upper()
    before = cursor.index
    if_exists, name = cursor.if_exists(), cursor.name()
    if cursor.accept("RENAME"):
        cursor.expect("TO")
        return Rename(cast(ItemKind, kind.lower()), name, cursor.identifier(), if_exists)
    others: dict[str, Callable[[Cursor], _Alter]] = {
        "SOURCE": alter_source,
        "SECRET": alter_secret,
        "MATERIALIZED VIEW": alter_materialized_view,
    }
    change = cursor.token.key
    guarding = kind == "MATERIALIZED VIEW" and cursor.peek("SET", "(")
    if change in _OTHER_CHANGES and kind != "SOURCE" and not guarding:
        cursor.not_supported(f"ALTER {kind} .. {change} statements are not supported yet")
    if kind not in others:
        cursor.expected("RENAME")
    cursor.index = before
    return others[kind](cursor)


def _refuse_other_kind(cursor: Cursor, verb: str) -> None:
    for kind in OTHER_KINDS:
        if cursor.peek(*kind.split()):
            start = cursor.tokens[0].start
            cursor.not_supported(f"{verb} {kind} statements are not supported yet", start)
