"""ALTER MATERIALIZED VIEW replacement SET (..): when a replacement applies itself."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import WrongItemType
from catalog.plan.definitions import definition as stored
from catalog.plan.item import missing
from catalog.plan.operations import ChangeItem
from catalog.plan.plans import Change
from catalog.plan.query_body import is_replacement
from catalog.plan.scope import Scope
from catalog.plan.view_options import GUARDS, guard_of
from catalog.sql.nodes.replacement import CreateReplacement, SetGuard
from catalog.sql.render import render

TAG = "ALTER MATERIALIZED VIEW"


def set_guard(statement: SetGuard, scope: Scope) -> Change:
    """The replacement's definition says the new guard rails, and no others."""
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(TAG, notices=(missing("materialized view", statement.name),))
    entry = scope.item(statement.name, "materialized view")
    if not is_replacement(entry):
        message = f"{entry.name} is not a replacement"
        raise WrongItemType(
            message, hint="Guard rails say when a replacement is applied by itself."
        )
    definition = stored(entry.create_sql)
    if not isinstance(definition, CreateReplacement):
        raise TypeError(entry.create_sql)
    kept = tuple(option for option in definition.options if option.name not in GUARDS)
    rendered = render(replace(definition, options=(*kept, *statement.options)))
    facts = replace(entry.view, guard=guard_of(statement))
    changed = replace(entry, create_sql=rendered, facts=facts)
    return Change(TAG, (ChangeItem(changed, guarded=True),), touches=(entry,))
