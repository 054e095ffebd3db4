"""CREATE VIEW."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported, WrongItemType
from catalog.plan.creation import full, new_entry
from catalog.plan.definitions import set_table
from catalog.plan.item import still_needed
from catalog.plan.operations import CreateItem, DropItem, Operation
from catalog.plan.picture import Entry
from catalog.plan.plans import Change
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope, checked_identifier
from catalog.query.binder import Moment
from catalog.query.compile import compile_query, inspect, without_stars
from catalog.query.names import Names, fold, parts_of
from catalog.sql.nodes.view import CreateView
from catalog.sql.render import render
from ingest.contract.relation import Relation

TAG = "CREATE VIEW"
_ANY = Moment(0, dt.datetime(1970, 1, 1, tzinfo=dt.UTC))


def create_view(statement: CreateView, scope: Scope, system: Names | None) -> Change:
    """A view whose names are resolved and whose columns are fixed when it is created."""
    path = scope.new_path(statement.name)
    operations: list[Operation] = []
    old = scope.picture.by_path.get(path)
    if old is not None and statement.or_replace:
        operations.append(DropItem(_replaceable(old, scope)))
    elif notice := scope.taken("view", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    names = ReadableNames(scope, system)
    if inspect(statement.query, names).kind == "system":
        message = "views over system catalog relations are not supported yet"
        raise NotSupported(message, hint="Query the relations themselves.")
    query = without_stars(statement.query, names, _ANY)
    compiled = compile_query(query, names, _ANY)
    relation = _named(compiled.relation, statement)
    if old is not None and old.id in names.used:
        message = f'view "{old.name}" would depend on itself'
        raise InvalidStatement(message, sqlstate="42P17")
    canonical = replace(
        statement,
        name=full(path),
        query=_qualified(query, scope),
        text="",
        columns=statement.columns,
        or_replace=False,
        if_not_exists=False,
    )
    used = tuple(names.used.values())
    direct = _direct(statement.query, scope)
    entry = new_entry(scope, "view", path, render(canonical), relation=relation, needs=direct)
    return Change(TAG, (*operations, CreateItem(entry)), touches=used)


def _replaceable(old: Entry, scope: Scope) -> Entry:
    if old.kind != "view":
        message = f"{old.name} is a {old.kind} not a view"
        raise WrongItemType(message)
    if dependents := scope.picture.dependents(old.id):
        raise still_needed(old, list(dependents))
    return old


def _named(relation: Relation, statement: CreateView) -> Relation:
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


def _tables(query: exp.Query) -> list[exp.Table]:
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


def _qualified(query: exp.Query, scope: Scope) -> exp.Query:
    """The query with every item named in full, so that it means the same from anywhere."""
    copy = query.copy()
    names = ReadableNames(scope)
    for table in _tables(copy):
        names.used.clear()
        names.resolve(parts_of(table))
        for entry in names.used.values():
            set_table(table, entry.path)
    return copy


def _direct(query: exp.Query, scope: Scope) -> tuple[str, ...]:
    """Ids of the items that the query itself names."""
    names = ReadableNames(scope)
    for table in _tables(query):
        names.resolve(parts_of(table))
    return tuple(names.used)
