"""CREATE SOURCE in the older form, while the region's flags allow it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from catalog.errors import InvalidStatement, NotSupported
from catalog.names import Path, dotted
from catalog.plan import subsource
from catalog.plan.creation import collection, full
from catalog.plan.facts import UpstreamFacts
from catalog.plan.flags import enabled
from catalog.plan.frontiers import frontier_of
from catalog.plan.operations import CreateItem
from catalog.plan.picture import Entry, SourceFacts, TableFacts
from catalog.plan.referring import resolve_reference
from catalog.plan.scope import Scope
from catalog.plan.subsource import Chosen
from catalog.sql.nodes.legacy import ExportedTable, Exports
from catalog.sql.nodes.names import Option
from catalog.sql.nodes.source import CreateSource
from ingest.contract.relation import Column, Relation
from ingest.contract.upstream import Reference

SINGLE = ("counter", "key value")
"""Load generators with one output, which the source itself has in the older form."""
INSTEAD = "not supported; use CREATE TABLE .. FROM SOURCE instead"
_COLUMNS = ("TEXT COLUMNS", "EXCLUDE COLUMNS")


def forced(scope: Scope) -> bool:
    """Whether sources make no tables by themselves."""
    return enabled(scope, "force_source_table_syntax")


def check_form(statement: CreateSource, scope: Scope) -> None:
    """Raises NotSupported for clauses of the older form where it is not allowed any more, and
    InvalidStatement for a source that does not say its tables where it has to."""
    if forced(scope):
        for clause, at in _clauses(statement):
            message = f"{clause} {INSTEAD}"
            raise NotSupported(message, position=_at(at))
        return
    single = statement.generator.lower() in SINGLE
    if single and statement.exports is not None:
        clause = f"FOR {statement.exports.kind.upper()}"
        message = f"{clause} is only valid for multi-output sources"
        raise InvalidStatement(message, position=_at(statement.exports.at))
    tables = enabled(scope, "enable_create_table_from_source")
    if statement.exports is None and not single and not tables:
        message = "missing TABLES specification"
        hint = "Add FOR ALL TABLES, FOR SCHEMAS (..) or FOR TABLES (..)."
        raise InvalidStatement(message, hint=hint, sqlstate="42601")


def _clauses(statement: CreateSource) -> Iterator[tuple[str, int]]:
    for option in statement.options:
        if option.name in _COLUMNS:
            yield option.name, option.at
    if statement.exports is not None:
        yield f"FOR {statement.exports.kind.upper()}", statement.exports.at
    if statement.progress is not None:
        yield "EXPOSE PROGRESS AS", statement.progress.at


def _at(at: int) -> int | None:
    return at if at >= 0 else None


def without_columns(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """A source's options but for those of its tables."""
    return tuple(option for option in options if option.name not in _COLUMNS)


def chosen(
    statement: CreateSource, path: Path, references: tuple[Reference, ...], database: str
) -> tuple[Chosen, ...]:
    """The references that the statement exports, with the names that they get."""
    if statement.exports is None:
        return ()
    picked = tuple(_picked(statement.exports, path, references, database))
    return subsource.with_columns(picked, statement.options, database)


def _picked(
    exports: Exports, source: Path, references: tuple[Reference, ...], database: str
) -> Iterator[tuple[Reference, Path]]:
    match exports.kind:
        case "all tables":
            yield from ((one, (*source[:2], one.name)) for one in references)
        case "schemas":
            there = {one.namespace for one in references}
            for schema in exports.schemas:
                if schema not in there:
                    message = f"schema {schema} not found in source"
                    hint = f"The source offers {', '.join(sorted(there))}."
                    raise InvalidStatement(message, hint=hint, position=_at(exports.at))
            for one in references:
                if one.namespace in exports.schemas:
                    yield one, (*source[:2], one.name)
        case "tables":
            yield from named(exports.tables, source, references, database)


def named(
    tables: tuple[ExportedTable, ...],
    source: Path,
    references: tuple[Reference, ...],
    database: str,
) -> Iterator[tuple[Reference, Path]]:
    """What `t [AS n], ..` refers to; a name without a schema goes where the source is."""
    for table in tables:
        found = resolve_reference(table.reference, references, source, database)
        given = table.name.parts if table.name is not None else (found.name,)
        database_, schema, name = (*source[: 3 - len(given)], *given)
        yield found, (database_, schema, name)


def progress_path(statement: CreateSource, path: Path, scope: Scope) -> Path:
    """Where the progress subsource goes: as named, or `<source>_progress`, numbered when that is
    taken. Raises DuplicateItem."""
    if statement.progress is not None:
        given = statement.progress.parts
        database, schema, name = (*path[: 3 - len(given)], *given)
        found = scope.new_path(full((database, schema, name)))
        scope.taken("source", found, if_not_exists=False)
        return found
    database, schema, name = (path[0], path[1], f"{path[2]}_progress")
    found, number = (database, schema, name), 0
    while found in scope.picture.by_path:
        number += 1
        found = (database, schema, f"{name}_{number}")
    return scope.new_path(full(found))


def output(
    statement: CreateSource, path: Path, references: tuple[Reference, ...], group: str, item: str
) -> TableFacts | None:
    """What the source itself has of the one output of its generator, None for other sources."""
    if statement.generator.lower() not in SINGLE:
        return None
    (reference,) = references
    columns, _ = subsource.exported(Chosen(reference, path))
    return TableFacts(
        source=item,
        namespace=reference.namespace,
        reference=reference.name,
        identity=reference.identity,
        columns=columns,
        snapshot_group=group,
    )


def with_output(
    statement: CreateSource, path: Path, facts: SourceFacts, learned: UpstreamFacts, scope: Scope
) -> dict[str, Any]:
    """The fields of the source's entry: with rows where it has some."""
    item = f"u{scope.picture.counters.item}"
    rows = output(statement, path, learned.references, learned.group, item)
    if rows is None:
        return {"facts": facts, "relation": frontier_of(facts)}
    (reference,) = learned.references
    _, key = subsource.exported(Chosen(reference, path))
    relation = Relation(tuple(Column(c.name, c.type, c.nullable) for c in rows.columns), key)
    return collection(scope, relation, replace(facts, output=rows))


def parts(
    statement: CreateSource, source: Entry, learned: UpstreamFacts, scope: Scope
) -> tuple[CreateItem, ...]:
    """The source's subsources: its progress, then what it exports."""
    database = database_of(source, scope)
    found = chosen(statement, source.path, learned.references, database)
    subsource.supported(found)
    shown = progress_path(statement, source.path, scope)
    subsource.distinct(found, scope)
    clash = {source.path, shown} & {one.path for one in found}
    if clash:
        message = f"multiple subsources would be named {dotted(clash.pop())}"
        raise InvalidStatement(message, hint="Name it: FOR TABLES (reference AS name, ..).")
    after = _after(scope, 1)
    made = [CreateItem(subsource.progress(shown, source, after))]
    made += subsources(found, source, learned.group, _after(scope, 2))
    return tuple(made)


def subsources(
    found: tuple[Chosen, ...], source: Entry, group: str, scope: Scope
) -> Iterator[CreateItem]:
    """The chosen references as new items of the scope's picture."""
    for number, one in enumerate(found):
        yield CreateItem(subsource.subsource(one, source, group, _after(scope, number)))


def _after(scope: Scope, count: int) -> Scope:
    """The scope once `count` more items are there, as far as their numbers go."""
    counters = scope.picture.counters
    later = replace(counters, item=counters.item + count, oid=counters.oid + count)
    return replace(scope, picture=replace(scope.picture, counters=later))


def database_of(source: Entry, scope: Scope) -> str:
    """The upstream database of a source, empty for a generator."""
    if not source.source.connection:
        return ""
    return _upstream_database(scope.picture.entries[source.source.connection])


def _upstream_database(connection: Entry) -> str:
    return str(connection.connection.options["database"])


def canonical(
    statement: CreateSource, source: Path, references: tuple[Reference, ...], scope: Scope
) -> CreateSource:
    """The statement (of the connection's full name) with full names in what is of the older
    form, and with the name that its progress gets."""
    exports = statement.exports
    if exports is not None and exports.kind == "tables":
        connection = statement.connection
        database = _upstream_database(scope.item(connection)) if connection else ""
        tables = tuple(
            ExportedTable(full((one.namespace, one.name)), full(path))
            for one, path in named(exports.tables, source, references, database)
        )
        exports = replace(exports, tables=tables)
    shown = progress_path(statement, source, scope)
    return replace(statement, exports=exports, progress=full(shown))
