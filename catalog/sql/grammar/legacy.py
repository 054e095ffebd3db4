"""What sources of the older form say of their tables, and subsources."""

from __future__ import annotations

from catalog.sql.cursor import Cursor
from catalog.sql.grammar.columns import column_definition
from catalog.sql.grammar.options import Kind, options
from catalog.sql.nodes.legacy import (
    AddSubsources,
    CreateSubsource,
    DropSubsources,
    ExportedTable,
    Exports,
)
from catalog.sql.nodes.names import Name, Option

COLUMN_OPTIONS: dict[str, Kind] = {"TEXT COLUMNS": "columns", "EXCLUDE COLUMNS": "columns"}


def exports(cursor: Cursor) -> Exports | None:
    """Take a FOR clause, if one comes next."""
    at = cursor.at()
    if not cursor.accept("FOR"):
        return None
    if cursor.accept("ALL"):
        cursor.expect("TABLES")
        return Exports("all tables", at=at)
    if cursor.one_of("SCHEMAS", "TABLES") == "SCHEMAS":
        schemas = cursor.parenthesized(cursor.identifier)
        return Exports("schemas", schemas=schemas, at=at)
    return Exports("tables", tables=cursor.parenthesized(lambda: _table(cursor)), at=at)


def progress(cursor: Cursor) -> Name | None:
    """Take EXPOSE PROGRESS AS name, if it comes next."""
    if not cursor.accept("EXPOSE"):
        return None
    cursor.expect("PROGRESS", "AS")
    return cursor.name()


def _table(cursor: Cursor) -> ExportedTable:
    reference = cursor.name()
    return ExportedTable(reference, cursor.name() if cursor.accept("AS") else None)


def add_subsources(cursor: Cursor, name: Name, *, if_exists: bool) -> AddSubsources:
    """After `ADD SUBSOURCE`."""
    tables = cursor.listed(lambda: _table(cursor))
    given = options(cursor, COLUMN_OPTIONS) if cursor.accept("WITH") else ()
    return AddSubsources(name, tables, given, if_exists)


def drop_subsources(cursor: Cursor, name: Name, *, if_exists: bool) -> DropSubsources:
    """After `DROP SUBSOURCE`."""
    names_if_exist = cursor.if_exists()
    names = cursor.listed(cursor.name)
    cascade = cursor.accept_one_of("CASCADE", "RESTRICT") == "CASCADE"
    return DropSubsources(name, names, if_exists, names_if_exist, cascade)


def create_subsource(cursor: Cursor) -> CreateSubsource:
    """After `CREATE SUBSOURCE`."""
    name = cursor.name()
    columns = cursor.parenthesized(lambda: column_definition(cursor))
    cursor.expect("OF", "SOURCE")
    source = cursor.name()
    cursor.expect("WITH")
    found = {option.name: option for option in options(cursor, _SUBSOURCE_OPTIONS)}
    reference = found["EXTERNAL REFERENCE"].value if "EXTERNAL REFERENCE" in found else None
    return CreateSubsource(
        name,
        columns,
        source,
        reference if isinstance(reference, Name) else None,
        "PROGRESS" in found,
        _names(found.get("TEXT COLUMNS")),
        _names(found.get("EXCLUDE COLUMNS")),
    )


_SUBSOURCE_OPTIONS: dict[str, Kind] = {
    "EXTERNAL REFERENCE": "name",
    "PROGRESS": "flag",
    **COLUMN_OPTIONS,
}


def _names(option: Option | None) -> tuple[str, ...]:
    value = option.value if option else ()
    return tuple(name.last for name in value) if isinstance(value, tuple) else ()
