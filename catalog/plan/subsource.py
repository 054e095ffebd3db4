"""Subsources: what a source of the older form makes of the references that it exports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from catalog.errors import InvalidStatement
from catalog.names import Path, dotted
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.export import export_columns, export_key
from catalog.plan.frontiers import frontier_of
from catalog.plan.picture import Entry, TableFacts
from catalog.plan.scope import Scope
from catalog.sql.nodes.legacy import CreateSubsource
from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.table import ColumnDefinition, CreateTableFromSource
from catalog.sql.render import render
from ingest.contract.commands import ExportColumn
from ingest.contract.relation import Column, Relation
from ingest.contract.upstream import Reference

_OPTIONS = ("TEXT COLUMNS", "EXCLUDE COLUMNS")


@dataclass(frozen=True)
class Chosen:
    """A reference that becomes a subsource, and its columns' options."""

    reference: Reference
    path: Path
    text_columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The reference as messages name it."""
        return dotted((self.reference.namespace, self.reference.name))


def with_columns(
    chosen: Iterable[tuple[Reference, Path]], options: tuple[Option, ...], database: str
) -> tuple[Chosen, ...]:
    """The chosen references, each with its part of TEXT COLUMNS and EXCLUDE COLUMNS.

    Raises InvalidStatement for a column of a table that is not among them.
    """
    pairs = tuple(chosen)
    found: dict[str, dict[int, list[str]]] = {name: {} for name in _OPTIONS}
    for option in options:
        if option.name in _OPTIONS and isinstance(option.value, tuple):
            for name in option.value:
                number = _table_of(name, option.name, pairs, database)
                found[option.name].setdefault(number, []).append(name.parts[-1])
    text, exclude = (found[name] for name in _OPTIONS)
    return tuple(
        Chosen(reference, path, tuple(text.get(n, ())), tuple(exclude.get(n, ())))
        for n, (reference, path) in enumerate(pairs)
    )


def _table_of(
    name: Name, option: str, pairs: tuple[tuple[Reference, Path], ...], database: str
) -> int:
    at = name.at if name.at >= 0 else None
    parts = name.parts[:-1]
    if not parts:
        message = (
            f"invalid {option} option value: column name '{name.last}' "
            "must have at least a table qualification"
        )
        raise InvalidStatement(message, position=at)
    if len(parts) == 3 and parts[0] == database:
        parts = parts[1:]
    found = [
        number
        for number, (reference, _) in enumerate(pairs)
        if (reference.namespace, reference.name)[-len(parts) :] == parts
    ]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"invalid {option} option value: table {dotted(parts)} is ambiguous"
        raise InvalidStatement(message, position=at)
    message = f"{option} refers to table not currently being added"
    detail = f"the following columns are referenced but not added: {dotted(name.parts)}"
    raise InvalidStatement(message, detail=detail, position=at)


def distinct(chosen: tuple[Chosen, ...], scope: Scope) -> None:
    """Raises InvalidStatement for two subsources of one name or one reference, DuplicateItem for
    a name that is taken."""
    paths = Counter(one.path for one in chosen)
    for path, count in paths.items():
        if count > 1:
            names = ", ".join(one.shown for one in chosen if one.path == path)
            message = f"multiple subsources would be named {dotted(path)}"
            hint = "Name them: FOR TABLES (reference AS name, ..)."
            raise InvalidStatement(message, detail=f"They would be {names}.", hint=hint)
    references = Counter(one.shown for one in chosen)
    for shown, count in references.items():
        if count > 1:
            names = ", ".join(dotted(one.path) for one in chosen if one.shown == shown)
            message = f"multiple subsources refer to table {shown}"
            detail = f"subsources referencing table: {names}"
            hint = "CREATE TABLE .. FROM SOURCE can be used any number of times on one table."
            raise InvalidStatement(message, detail=detail, hint=hint)
    for path in paths:
        scope.taken("source", path, if_not_exists=False)


def supported(chosen: tuple[Chosen, ...]) -> None:
    """Raises InvalidStatement with every column whose type has no form here."""
    found = [
        f"{one.shown}.{column.name} ({column.type_name})"
        for one in chosen
        for column in one.reference.columns
        if column.native is None and column.name not in {*one.text_columns, *one.exclude_columns}
    ]
    if found:
        raise InvalidStatement(
            "referenced tables use unsupported types",
            detail=f"Columns: {', '.join(found)}",
            hint="Use the TEXT COLUMNS option to ingest the listed columns as text, or EXCLUDE "
            "COLUMNS to leave them out.",
            sqlstate="0A000",
        )


def subsource(one: Chosen, source: Entry, group: str, scope: Scope) -> Entry:
    """A subsource as a new item of the scope's picture."""
    columns, key = exported(one)
    relation = Relation(tuple(Column(c.name, c.type, c.nullable) for c in columns), key)
    facts = TableFacts(
        source=source.id,
        namespace=one.reference.namespace,
        reference=one.reference.name,
        identity=one.reference.identity,
        columns=columns,
        text_columns=one.text_columns,
        exclude_columns=one.exclude_columns,
        snapshot_group=group,
    )
    statement = CreateSubsource(
        full(one.path),
        definitions(relation),
        full(source.path),
        full((one.reference.namespace, one.reference.name)),
        text_columns=one.text_columns,
        exclude_columns=one.exclude_columns,
    )
    fields = collection(scope, relation, facts)
    return new_entry(scope, "source", one.path, render(statement), needs=(source.id,), **fields)


def exported(one: Chosen) -> tuple[tuple[ExportColumn, ...], tuple[str, ...]]:
    """The columns that a reference gives here, and its key. Raises InvalidStatement."""
    told = CreateTableFromSource(
        full(one.path),
        full(one.path),
        text_columns=one.text_columns,
        exclude_columns=one.exclude_columns,
    )
    columns = export_columns(told, one.reference)
    return columns, export_key(one.reference, columns)


def progress(path: Path, source: Entry, scope: Scope) -> Entry:
    """The subsource that shows how far its source is."""
    relation = frontier_of(source.source)
    statement = CreateSubsource(
        full(path), definitions(relation), full(source.path), progress=True
    )
    return new_entry(
        scope, "source", path, render(statement), needs=(source.id,), relation=relation
    )


def definitions(relation: Relation) -> tuple[ColumnDefinition, ...]:
    """A relation's columns as a statement writes them."""
    return tuple(ColumnDefinition(c.name, c.type, c.nullable) for c in relation.columns)
