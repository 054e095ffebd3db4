"""CREATE CONNECTION, VALIDATE CONNECTION."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.options import Kind, options
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection

POSTGRES_OPTIONS: dict[str, Kind] = {
    "HOST": "text",
    "PORT": "number",
    "DATABASE": "text",
    "USER": "text",
    "PASSWORD": "text",
    "SSL MODE": "text",
    "SSL CERTIFICATE AUTHORITY": "text",
    "SSL CERTIFICATE": "text",
    "SSL KEY": "text",
}
_OTHER_KINDS = (
    ("MYSQL",),
    ("SQL", "SERVER"),
    ("KAFKA",),
    ("CONFLUENT", "SCHEMA", "REGISTRY"),
    ("AWS", "PRIVATELINK"),
    ("AWS",),
    ("SSH", "TUNNEL"),
    ("ICEBERG", "CATALOG"),
)


def create_connection(cursor: Cursor) -> CreateConnection:
    """After `CREATE CONNECTION`."""
    if_not_exists, name = cursor.if_not_exists(), cursor.name()
    cursor.expect("TO")
    for words in _OTHER_KINDS:
        if cursor.peek(*words):
            cursor.not_supported(f"{' '.join(words)} connections are not supported yet")
    cursor.expect("POSTGRES")
    chosen = options(cursor, POSTGRES_OPTIONS)
    validate = None
    if cursor.accept("WITH"):
        given = options(cursor, {"VALIDATE": "flag"})
        validate = bool(given[0].value) if given else None
    return CreateConnection(name, "postgres", chosen, if_not_exists, validate)


def validate_connection(cursor: Cursor) -> ValidateConnection:
    """After `VALIDATE CONNECTION`."""
    return ValidateConnection(cursor.name())
