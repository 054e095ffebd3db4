"""Names that are the same everywhere, and how names are told to people."""

from __future__ import annotations

DATABASE = "headrace"
SCHEMA = "public"
CLUSTER = "quickstart"
SYSTEM_ROLE = "system"
SYSTEM_SCHEMAS = ("mz_catalog", "mz_internal", "pg_catalog", "information_schema")
SYSTEM_DATABASE = ""
RESERVED_PREFIXES = ("mz_", "pg_")

Path = tuple[str, str, str]
"""A fully qualified name: database, schema, item."""


def dotted(path: tuple[str, ...]) -> str:
    """The name as messages show it: its parts joined by dots, unquoted."""
    return ".".join(part for part in path if part)


def plural(count: int, noun: str) -> str:
    """`1 table`, `2 tables`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
