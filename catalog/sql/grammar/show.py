"""SHOW: objects, CREATE statements, variables."""

from __future__ import annotations

from catalog.sql.body import take_expression
from catalog.sql.cursor import Cursor
from catalog.sql.grammar.item import KINDS, item_kind
from catalog.sql.grammar.replacement import show_changes
from catalog.sql.grammar.session import variable
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.replacement import ShowChanges
from catalog.sql.nodes.show import ShowCreate, ShowObjects, ShowVariable

PLURALS = {
    "SECRETS": "secret",
    "CONNECTIONS": "connection",
    "SOURCES": "source",
    "SUBSOURCES": "subsource",
    "TABLES": "table",
    "VIEWS": "view",
    "SCHEMAS": "schema",
    "DATABASES": "database",
    "OBJECTS": "object",
    "MATERIALIZED VIEWS": "materialized view",
    "REPLACEMENTS": "replacement",
    "SINKS": "sink",
    "TYPES": "type",
    "ROLES": "role",
    "CLUSTERS": "cluster",
}
_REGION_WIDE = ("role", "cluster")
_OTHER_PLURALS = (
    "INDEXES",
    "INDEX",
    "KEYS",
    "CLUSTER REPLICAS",
    "ROLE MEMBERSHIP",
    "PRIVILEGES",
    "DEFAULT PRIVILEGES",
    "NETWORK POLICIES",
    "CONTINUAL TASKS",
)
_OTHER_CREATES = (
    "SINK",
    "INDEX",
    "CLUSTER",
    "TYPE",
    "ROLE",
    "CONTINUAL TASK",
)


def show(cursor: Cursor) -> ShowObjects | ShowCreate | ShowVariable | ShowChanges:
    """After `SHOW`."""
    if cursor.peek("CREATE") or cursor.peek("REDACTED", "CREATE"):
        return _create(cursor)
    for words in _OTHER_PLURALS:
        if cursor.peek(*words.split()):
            start = cursor.tokens[0].start
            cursor.not_supported(f"SHOW {words} statements are not supported yet", start)
    if cursor.peek("CHANGES", "FOR"):
        cursor.accept("CHANGES")
        return show_changes(cursor)
    if cursor.accept("COLUMNS"):
        return _columns(cursor)
    for plural, kind in PLURALS.items():
        if cursor.accept(*plural.split()):
            return _objects(cursor, kind)
    return ShowVariable("" if cursor.accept("ALL") else variable(cursor))


def _create(cursor: Cursor) -> ShowCreate:
    redacted = cursor.accept("REDACTED")
    cursor.expect("CREATE")
    for words in _OTHER_CREATES:
        if cursor.peek(*words.split()):
            start = cursor.tokens[0].start
            cursor.not_supported(f"SHOW CREATE {words} statements are not supported yet", start)
    kind, replacement = item_kind(cursor, *KINDS)
    return ShowCreate(kind, cursor.name(), redacted, replacement)


def _columns(cursor: Cursor) -> ShowObjects:
    if not cursor.accept_one_of("FROM", "IN"):
        cursor.expected("one of FROM or IN")
    name = cursor.name()
    like, where = _filter(cursor)
    return ShowObjects("column", of=name, like=like, where=where)


def _objects(cursor: Cursor, kind: str) -> ShowObjects:
    schema: Name | None = None
    source: Name | None = None
    target: Name | None = None
    if kind not in _REGION_WIDE and cursor.accept_one_of("FROM", "IN"):
        if cursor.peek("CLUSTER"):
            cursor.not_supported("SHOW .. IN CLUSTER is not supported yet")
        schema = cursor.name()
    if kind in ("table", "subsource") and cursor.accept("ON"):
        source = cursor.name()
    if kind == "replacement" and cursor.accept("FOR"):
        target = cursor.name()
    like, where = _filter(cursor)
    return ShowObjects(kind, schema, source, target, like, where)


def _filter(cursor: Cursor) -> tuple[str | None, str]:
    if cursor.accept("LIKE"):
        return cursor.string(), ""
    if cursor.accept("WHERE"):
        return None, take_expression(cursor).canonical
    return None, ""
