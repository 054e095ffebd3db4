"""ALTER SOURCE .. ADD SUBSOURCE and DROP SUBSOURCE, while the region's flags allow it."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import InvalidStatement, NotSupported
from catalog.plan import subsource
from catalog.plan.creation import full
from catalog.plan.definitions import definition
from catalog.plan.facts import UpstreamFacts
from catalog.plan.item import closure, missing
from catalog.plan.legacy_source import INSTEAD, database_of, forced, named, subsources
from catalog.plan.operations import ChangeItem, DropItem, Operation
from catalog.plan.picture import Entry, SourceFacts
from catalog.plan.plans import Change
from catalog.plan.scope import Scope
from catalog.results import Notice
from catalog.sql.nodes.legacy import AddSubsources, DropSubsources, ExportedTable
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.source import CreateSource
from catalog.sql.render import render

TAG = "ALTER SOURCE"


def add_subsources(statement: AddSubsources, learned: UpstreamFacts, scope: Scope) -> Change:
    """ALTER SOURCE .. ADD SUBSOURCE."""
    _allowed("ADD SUBSOURCE", statement.name, scope)
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(TAG, notices=(missing("source", statement.name),))
    source = _multi_output(statement.name, scope)
    database = database_of(source, scope)
    picked = tuple(named(statement.tables, source.path, learned.references, database))
    found = subsource.with_columns(picked, statement.options, database)
    subsource.supported(found)
    subsource.distinct(found, scope)
    there = {
        (one.table.namespace, one.table.reference)
        for one in scope.picture.tables_of(source.id)
        if one.kind == "source"
    }
    for one in found:
        if (one.reference.namespace, one.reference.name) in there:
            message = f"another subsource already refers to {one.shown}"
            hint = "CREATE TABLE .. FROM SOURCE can be used any number of times on one table."
            raise InvalidStatement(message, hint=hint, sqlstate="42710")
    made: tuple[Operation, ...] = tuple(subsources(found, source, learned.group, scope))
    tables = tuple(
        ExportedTable(full((one.reference.namespace, one.reference.name)), full(one.path))
        for one in found
    )
    return Change(TAG, (*_exporting(source, tables), *made), touches=(source,))


def drop_subsources(statement: DropSubsources, scope: Scope) -> Change:
    """ALTER SOURCE .. DROP SUBSOURCE."""
    _allowed("DROP SUBSOURCE", statement.name, scope)
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(TAG, notices=(missing("source", statement.name),))
    source = _multi_output(statement.name, scope)
    notices: list[Notice] = []
    entries: list[Entry] = []
    for name in statement.names:
        if statement.names_if_exist and scope.find(name) is None:
            notices.append(missing("source", name))
            continue
        entries.append(_subsource_of(name, source, scope))
    dropped = closure(scope, entries, cascade=statement.cascade)
    gone = {(one.table.namespace, one.table.reference) for one in entries}
    operations: tuple[Operation, ...] = (
        *_exporting(source, gone=gone),
        *(DropItem(entry) for entry in dropped),
    )
    return Change(TAG, operations, tuple(notices), touches=(source, *entries))


def _allowed(what: str, name: Name, scope: Scope) -> None:
    if forced(scope):
        message = f"ALTER SOURCE .. {what} {INSTEAD}"
        raise NotSupported(message, position=name.at if name.at >= 0 else None)


def _multi_output(name: Name, scope: Scope) -> Entry:
    """A source that can have subsources. Raises InvalidStatement for another one."""
    source = scope.item(name, "source")
    if not isinstance(source.facts, SourceFacts) or source.fed:
        message = f"{source.name} is not a multi-output source: it has no subsources"
        raise InvalidStatement(message, position=name.at if name.at >= 0 else None)
    return source


def _subsource_of(name: Name, source: Entry, scope: Scope) -> Entry:
    entry = scope.item(name, "source")
    if not entry.fed or entry.table.source != source.id or entry.id == source.id:
        message = f"{entry.name} is not a subsource of {source.name}"
        raise InvalidStatement(message, position=name.at if name.at >= 0 else None)
    return entry


def _exporting(
    source: Entry,
    more: tuple[ExportedTable, ...] = (),
    gone: set[tuple[str, str]] | None = None,
) -> tuple[ChangeItem, ...]:
    """The source's definition with its FOR TABLES as they are then; other clauses stay."""
    statement = definition(source.create_sql)
    exports = statement.exports if isinstance(statement, CreateSource) else None
    if not isinstance(statement, CreateSource) or exports is None or exports.kind != "tables":
        return (ChangeItem(source),)
    kept = tuple(one for one in exports.tables if one.reference.parts not in (gone or set()))
    told = replace(exports, tables=(*kept, *more))
    changed = replace(statement, exports=told if told.tables else None)
    return (ChangeItem(replace(source, create_sql=render(changed))),)


def create_subsource() -> Change:
    """Raises NotSupported: subsources are made by their source."""
    message = "CREATE SUBSOURCE statements cannot be executed"
    hint = "Use CREATE TABLE .. FROM SOURCE, or ALTER SOURCE .. ADD SUBSOURCE."
    raise NotSupported(message, hint=hint)
