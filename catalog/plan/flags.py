"""ALTER SYSTEM: a region's feature flags, each with its default."""

from __future__ import annotations

import difflib

from catalog.errors import InvalidStatement, UnknownItem
from catalog.names import dotted, plural
from catalog.plan.operations import SetFlag
from catalog.plan.picture import Entry
from catalog.plan.plans import Change
from catalog.plan.scope import Scope
from catalog.sql.nodes.session import AlterSystem

FLAGS = {
    "enable_create_table_from_source": "on",
    "force_source_table_syntax": "on",
    "enable_replacement_materialized_views": "on",
}
"""Flags that are on or off."""
FORCED = "force_source_table_syntax"

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
    value = FLAGS[name] if statement.value is None else statement.value.lower()
    if value not in ON | OFF:
        message = f'parameter "{name}" requires a "boolean" value'
        raise InvalidStatement(message)
    if name == FORCED and value in ON and not enabled(scope, name):
        _refuse_older_form(scope)
    if statement.value is None:
        return Change("ALTER SYSTEM", (SetFlag(name, None),))
    return Change("ALTER SYSTEM", (SetFlag(name, "on" if value in ON else "off"),))


def _refuse_older_form(scope: Scope) -> None:
    """Raise for sources in the older form: applying a migration brings them to the new one."""
    left = [entry for entry in scope.picture.entries.values() if in_older_form(entry)]
    if left:
        first = left[0]
        message = f"{FORCED} cannot be turned on: {plural(len(left), 'object')} to migrate"
        detail = f'One is source "{dotted(first.path)}".'
        hint = "Plan a migration (POST /api/migrations); applying it turns the flag on."
        raise InvalidStatement(message, detail=detail, hint=hint, sqlstate="55000")


def in_older_form(entry: Entry) -> bool:
    """Whether a source has rows, is a subsource, or says what its tables are."""
    if entry.kind != "source":
        return False
    text = entry.create_sql
    return entry.fed or text.startswith("CREATE SUBSOURCE ") or " EXPOSE PROGRESS AS " in text


def enabled(scope: Scope, name: str) -> bool:
    """Whether a flag is on in the region."""
    return scope.picture.flags.get(name, FLAGS[name]) == "on"
