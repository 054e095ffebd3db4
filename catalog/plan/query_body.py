"""The query of a view of either kind: its names resolved and its columns fixed at creation."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported, WrongItemType
from catalog.names import dotted
from catalog.plan import system_stars
from catalog.plan.definitions import set_table
from catalog.plan.picture import Entry, ViewFacts
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope, checked_identifier
from catalog.query.binder import Moment
from catalog.query.compile import compile_query, inspect, without_stars
from catalog.query.names import Names, fold, parts_of
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.nodes.view import CreateView
from ingest.contract.relation import Relation

ANY = Moment(0, dt.datetime(1970, 1, 1, tzinfo=dt.UTC))
"""A moment to compile at when no answer is asked for."""
Viewing = CreateView | CreateMaterializedView | CreateReplacement


@dataclass(frozen=True)
class Fixed:
    """A query that means the same from anywhere and later.

    `needs` are the items that it names, `used` those that it reads through other views too.
    """

    query: exp.Query
    relation: Relation
    needs: tuple[str, ...]
    used: dict[str, Entry]


def fixed(statement: Viewing, scope: Scope, system: Names | None) -> Fixed:
    """The statement's query with every `*` written out and every item named in full.

    Raises StatementError for what it gets wrong, and for what no view may read.
    """
    names = ReadableNames(scope, system)
    if inspect(statement.query, names).kind == "system":
        return _over_system(statement, scope, names)
    needs = _direct(statement.query, scope)
    query = without_stars(statement.query, names, ANY)
    compiled = compile_query(query, names, ANY)
    relation = _named(compiled.relation, statement)
    return Fixed(_qualified(query, scope), relation, needs, dict(names.used))


@runtime_checkable
class SystemCatalog(Names, Protocol):
    """Built-in relations that can also tell what a query over them gives."""

    def relation_of(self, query: exp.Query, names: Names, database: str) -> Relation:
        """The columns of a query's answer; raises StatementError."""


def _over_system(statement: Viewing, scope: Scope, names: ReadableNames) -> Fixed:
    """A view over built-in relations: columns are written out, so that it never gets wider."""
    system = names.system
    if not isinstance(statement, CreateView) or not isinstance(system, SystemCatalog):
        message = "materialized views over system catalog relations are not supported"
        raise NotSupported(message, hint="CREATE VIEW can read them.")
    query = system_stars.without_stars(statement.query, names)
    needs = _direct(statement.query, scope)
    relation = _named(system.relation_of(query, names, scope.database), statement)
    return Fixed(_qualified(query, scope, system), relation, needs, dict(names.used))


def _named(relation: Relation, statement: Viewing) -> Relation:
    if len(statement.columns) > len(relation.columns):
        message = (
            f"{statement.name.last} definition names {len(statement.columns)} columns, "
            f"but the query has {len(relation.columns)}"
        )
        raise InvalidStatement(message, sqlstate="42601")
    names = [*statement.columns, *relation.names[len(statement.columns) :]]
    for position, name in enumerate(names):
        checked_identifier(name)
        if name in names[:position]:
            message = f'column "{name}" specified more than once'
            raise InvalidStatement(message, sqlstate="42701")
    columns = zip(names, relation.columns, strict=True)
    return Relation(tuple(replace(column, name=name) for name, column in columns))


def tables_of(query: exp.Query) -> list[exp.Table]:
    """The table nodes that are names of items: no functions, no names that WITH gave."""
    found: list[exp.Table] = []
    for table in query.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue
        if len(table.parts) == 1 and fold(table.this) in _with_names(table):
            continue
        found.append(table)
    return found


def _with_names(node: exp.Expr) -> set[str]:
    names: set[str] = set()
    above: exp.Expr | None = node
    while above is not None:
        with_ = above.args.get("with_")
        if with_ is not None:
            names |= {fold(cte.args["alias"].this) for cte in with_.expressions}
        above = above.parent
    return names


def _qualified(query: exp.Query, scope: Scope, system: Names | None = None) -> exp.Query:
    """The query with every item named in full, so that it means the same from anywhere."""
    copy = query.copy()
    names = ReadableNames(scope)
    for table in tables_of(copy):
        names.used.clear()
        names.resolve(parts_of(table))
        for entry in names.used.values():
            set_table(table, entry.path)
        builtin = system.resolve(parts_of(table)) if system and not names.used else None
        if builtin is not None:
            schema, _, item = builtin.id.partition(".")
            set_table(table, ("", schema, item))
    return copy


def _direct(query: exp.Query, scope: Scope) -> tuple[str, ...]:
    """Ids of the items that the query itself names; raises for replacements."""
    names = ReadableNames(scope)
    for table in tables_of(query):
        names.resolve(parts_of(table))
    for entry in names.used.values():
        if is_replacement(entry):
            raise replaced(entry)
    return tuple(names.used)


def is_replacement(entry: Entry) -> bool:
    """Whether the item is a replacement that has not been applied."""
    return isinstance(entry.facts, ViewFacts) and bool(entry.facts.target)


def replaced(entry: Entry) -> WrongItemType:
    """The error for a definition that names a replacement."""
    message = f"replacement materialized view {entry.name} cannot be depended upon"
    hint = "Apply it first, then name the materialized view that it is for."
    return WrongItemType(message, hint=hint)


def replacement_named(name: Name, scope: Scope) -> Entry:
    """The replacement of that name; raises WrongItemType for a view that is none."""
    entry = scope.item(name, "materialized view")
    if not is_replacement(entry):
        message = f"{entry.name} is a materialized view not a replacement"
        detail = f'"{dotted(entry.path)}" replaces nothing.'
        raise WrongItemType(message, detail=detail)
    return entry
