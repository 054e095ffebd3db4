"""Every built-in relation, and how a name finds one."""

from __future__ import annotations

from catalog.system import (
    information_schema,
    namespaces,
    objects,
    pg_catalog,
    pg_empty,
    sources,
    subscriptions,
    views,
)
from catalog.system.relation import SystemRelation

RELATIONS: tuple[SystemRelation, ...] = (
    *namespaces.RELATIONS,
    *objects.RELATIONS,
    *sources.RELATIONS,
    *pg_catalog.RELATIONS,
    *pg_empty.RELATIONS,
    *information_schema.RELATIONS,
    *subscriptions.RELATIONS,
    *views.RELATIONS,
)
BY_ID: dict[str, SystemRelation] = {relation.id: relation for relation in RELATIONS}
IMPLICIT = ("mz_catalog", "pg_catalog", "mz_internal")
"""Schemas whose relations need no schema before their name."""
SCHEMAS = ("mz_catalog", "pg_catalog", "mz_internal", "information_schema")


def relations() -> tuple[SystemRelation, ...]:
    """All built-in relations, in a stable order."""
    return RELATIONS


def lookup(parts: tuple[str, ...]) -> SystemRelation | None:
    """The built-in relation that one to three name parts stand for, or None.

    The database part is not looked at: the built-in schemas are in all of them.
    """
    if len(parts) == 1:
        found = (BY_ID.get(f"{schema}.{parts[0]}") for schema in IMPLICIT)
        return next((relation for relation in found if relation is not None), None)
    return BY_ID.get(".".join(parts[-2:]))
