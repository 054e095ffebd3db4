"""SUBSCRIBE: which rows are followed."""

from __future__ import annotations

from sqlglot import exp

from catalog.errors import WrongItemType
from catalog.names import dotted
from catalog.plan.picture import Entry
from catalog.plan.plans import Follow
from catalog.plan.scope import Scope
from catalog.query.names import Names
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.subscribe import Subscribe

_READABLE = ("table", "view", "source", "materialized view")


def subscribe(statement: Subscribe, scope: Scope, system: Names | None = None) -> Follow:
    """Follow an item whose changes are recorded, or a query. `system` knows built-in relations.

    Raises UnknownItem (42P01), and WrongItemType for what has no rows.
    """
    if statement.select is not None:
        return Follow(statement, statement.select)
    name = statement.name
    if name is None:
        raise TypeError(statement)
    entry = _entry(name, scope, system)
    query = exp.select("*").from_(_table(entry.path if entry else name.parts))
    recorded = entry is not None and (entry.fed or entry.kind in ("table", "materialized view"))
    if entry is not None and entry.kind == "materialized view" and entry.view.target:
        recorded = False
    return Follow(statement, Select(query), entry if recorded else None)


def _entry(name: Name, scope: Scope, system: Names | None) -> Entry | None:
    """The item, None for a built-in relation."""
    entry = scope.find(name)
    if entry is None:
        if system is None or system.resolve(name.parts) is None:
            raise scope.unknown(name, ("table",))
        return None
    if entry.kind not in _READABLE:
        message = f"{dotted(name.parts)} is a {entry.kind} and cannot be subscribed to"
        raise WrongItemType(message, position=name.at)
    return entry


def _table(parts: tuple[str, ...]) -> exp.Table:
    names = [exp.to_identifier(part, quoted=True) for part in reversed(parts)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), names, strict=False)))
