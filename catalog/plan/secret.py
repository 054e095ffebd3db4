"""CREATE SECRET, ALTER SECRET."""

from __future__ import annotations

from dataclasses import replace

from catalog.plan.creation import full, new_entry
from catalog.plan.item import missing
from catalog.plan.operations import CreateItem, SetSecret
from catalog.plan.plans import Change
from catalog.plan.scope import Scope
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from catalog.sql.render import render

HIDDEN = "********"


def create_secret(statement: CreateSecret, scope: Scope) -> Change:
    """A secret's definition never holds its value."""
    path = scope.new_path(statement.name)
    tag = "CREATE SECRET"
    if notice := scope.taken("secret", path, if_not_exists=statement.if_not_exists):
        return Change(tag, notices=(notice,))
    canonical = replace(statement, name=full(path), value=HIDDEN, if_not_exists=False)
    entry = new_entry(scope, "secret", path, render(canonical))
    return Change(tag, (CreateItem(entry, secret=statement.value),))


def alter_secret(statement: AlterSecret, scope: Scope) -> Change:
    """A new value under the old id; running feeds pick it up."""
    tag = "ALTER SECRET"
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(tag, notices=(missing("secret", statement.name),))
    entry = scope.item(statement.name, "secret")
    return Change(tag, (SetSecret(entry, statement.value),), touches=(entry,))
