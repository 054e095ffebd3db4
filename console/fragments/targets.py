"""Where a connection leads, read from its own definition."""

from __future__ import annotations

from catalog.reads import ItemRow
from catalog.sql import parse_one
from catalog.sql.nodes.connection import CreateConnection
from ingest.errors import HeadraceError


def options(item: ItemRow) -> dict[str, str]:
    """The connection's plain options by lower-case name; secrets are left out."""
    try:
        statement = parse_one(item.redacted_sql).statement
    except HeadraceError:
        return {}
    if not isinstance(statement, CreateConnection):
        return {}
    return {o.name.lower(): o.value for o in statement.options if isinstance(o.value, str)}


def where(item: ItemRow) -> str:
    """`user@host:port/database`, as far as it is known."""
    found = options(item)
    port = f":{found['port']}" if "port" in found else ""
    user = f"{found['user']}@" if "user" in found else ""
    return f"{user}{found.get('host', '')}{port}/{found.get('database', '')}"
