"""CREATE VIEW."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import InvalidStatement, WrongItemType
from catalog.plan.creation import full, new_entry
from catalog.plan.item import still_needed
from catalog.plan.operations import CreateItem, DropItem, Operation
from catalog.plan.picture import Entry
from catalog.plan.plans import Change
from catalog.plan.query_body import fixed
from catalog.plan.scope import Scope
from catalog.query.names import Names
from catalog.sql.nodes.names import ItemKind
from catalog.sql.nodes.view import CreateView
from catalog.sql.render import render

TAG = "CREATE VIEW"


def create_view(statement: CreateView, scope: Scope, system: Names | None) -> Change:
    """A view whose names are resolved and whose columns are fixed when it is created."""
    path = scope.new_path(statement.name)
    operations: list[Operation] = []
    old = scope.picture.by_path.get(path)
    if old is not None and statement.or_replace:
        operations.append(DropItem(replaceable(old, scope, "view")))
    elif notice := scope.taken("view", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    body = fixed(statement, scope, system)
    if old is not None:
        not_itself(old, body.used)
    canonical = replace(
        statement,
        name=full(path),
        query=body.query,
        text="",
        or_replace=False,
        if_not_exists=False,
    )
    fields = {"relation": body.relation, "needs": body.needs}
    entry = new_entry(scope, "view", path, render(canonical), **fields)
    return Change(TAG, (*operations, CreateItem(entry)), touches=tuple(body.used.values()))


def replaceable(old: Entry, scope: Scope, kind: ItemKind) -> Entry:
    """The item that OR REPLACE drops; raises when it is of another kind, or still needed."""
    if old.kind != kind:
        message = f"{old.name} is a {old.kind} not a {kind}"
        raise WrongItemType(message)
    if dependents := scope.picture.dependents(old.id):
        raise still_needed(old, list(dependents))
    return old


def not_itself(old: Entry, used: dict[str, Entry]) -> None:
    """Raises when the definition that is to take the place of `old` reads it."""
    if old.id in used:
        message = f'{old.kind} "{old.name}" would depend on itself'
        raise InvalidStatement(message, sqlstate="42P17")
