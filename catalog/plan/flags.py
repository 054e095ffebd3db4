"""ALTER SYSTEM: a region's feature flags, each with its default."""

from __future__ import annotations

import difflib

from catalog.errors import InvalidStatement, UnknownItem
from catalog.plan.operations import SetFlag
from catalog.plan.plans import Change
from catalog.plan.scope import Scope
from catalog.sql.nodes.session import AlterSystem

FLAGS = {
    "enable_create_table_from_source": "on",
    "force_source_table_syntax": "on",
    "enable_replacement_materialized_views": "on",
}
"""Flags that are on or off."""

ON = {"on", "true", "1", "yes"}
OFF = {"off", "false", "0", "no"}


def alter_system(statement: AlterSystem, scope: Scope) -> Change:
    """Set a flag, or take it back to its default."""
    name = statement.name.lower()
    if name not in FLAGS:
        near = difflib.get_close_matches(name, FLAGS, n=1)
        hint = f'Did you mean "{near[0]}"?' if near else None
        message = f'unrecognized configuration parameter "{name}"'
        raise UnknownItem(message, hint=hint)
    if statement.value is None:
        return Change("ALTER SYSTEM", (SetFlag(name, None),))
    value = statement.value.lower()
    if value not in ON | OFF:
        message = f'parameter "{name}" requires a "boolean" value'
        raise InvalidStatement(message)
    return Change("ALTER SYSTEM", (SetFlag(name, "on" if value in ON else "off"),))


def enabled(scope: Scope, name: str) -> bool:
    """Whether a flag is on in the region."""
    return scope.picture.flags.get(name, FLAGS[name]) == "on"
