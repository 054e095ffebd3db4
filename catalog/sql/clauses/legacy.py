"""Sources of the older form, and subsources."""

from __future__ import annotations

from catalog.sql.clauses.rows import column
from catalog.sql.clauses.style import Style, name_list, name_of, option_list, when, words
from catalog.sql.layout import Clause, Group
from catalog.sql.nodes.legacy import (
    AddSubsources,
    CreateSubsource,
    DropSubsources,
    ExportedTable,
    Exports,
)


def exports(found: Exports | None) -> Clause:
    """The FOR clause."""
    if found is None:
        return ""
    match found.kind:
        case "all tables":
            return "FOR ALL TABLES"
        case "schemas":
            return name_list("FOR SCHEMAS", found.schemas)
        case "tables":
            return Group("FOR TABLES", tuple(map(_table, found.tables)))


def _table(table: ExportedTable) -> str:
    return words(name_of(table.reference), name_of(table.name, "AS"))


def create_subsource(s: CreateSubsource, style: Style) -> list[Clause]:
    """Clauses of CreateSubsource."""
    reference = f"EXTERNAL REFERENCE{style.equals}{name_of(s.reference)}" if s.reference else ""
    equals = style.equals.rstrip()
    lists = (("TEXT COLUMNS", s.text_columns), ("EXCLUDE COLUMNS", s.exclude_columns))
    given: tuple[str | Group, ...] = (
        *((reference,) if reference else ()),
        *((f"PROGRESS{style.equals}true",) if s.progress else ()),
        *(name_list(word + equals, names) for word, names in lists if names),
    )
    return [
        Group(name_of(s.name, "CREATE SUBSOURCE"), tuple(map(column, s.columns))),
        name_of(s.source, "OF SOURCE"),
        Group("WITH", given),
    ]


def add_subsources(s: AddSubsources, style: Style) -> list[Clause]:
    """Clauses of AddSubsources."""
    head = words("ALTER SOURCE", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    tables = ", ".join(map(_table, s.tables))
    return [words(head, "ADD SUBSOURCE", tables), option_list("WITH", s.options, style)]


def drop_subsources(s: DropSubsources, _: Style) -> list[Clause]:
    """Clauses of DropSubsources."""
    head = words("ALTER SOURCE", when(s.if_exists, "IF EXISTS"), name_of(s.name))
    names = ", ".join(map(name_of, s.names))
    drop = words("DROP SUBSOURCE", when(s.names_if_exist, "IF EXISTS"), names)
    return [words(head, drop, when(s.cascade, "CASCADE"))]
