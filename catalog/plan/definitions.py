"""Stored definitions: read back, and written anew when a name in them changes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from sqlglot import exp

from catalog.names import Path
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import Name, Option, SecretReference
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.view import CreateView
from catalog.sql.parse import parse_one
from catalog.sql.render import identifier, render

_VIEWS = (CreateView, CreateMaterializedView, CreateReplacement)


@lru_cache(maxsize=4096)
def definition(create_sql: str) -> Statement:
    """The statement that an item's canonical text stands for."""
    return parse_one(create_sql).statement


def view_query(create_sql: str) -> exp.Query:
    """The query of a definition of a view, a materialized view or a replacement.

    It is shared, so copy it before changing it.
    """
    statement = definition(create_sql)
    if not isinstance(statement, _VIEWS):
        raise TypeError(create_sql)
    return statement.query


def renamed(create_sql: str, old: Path, new: Path) -> str:
    """The definition with every mention of `old` turned into `new`."""
    statement = definition(create_sql)
    changes: dict[str, Any] = {}
    for field in fields(statement):
        value = getattr(statement, field.name)
        if (other := _renamed(value, old, new)) is not value:
            changes[field.name] = other
    if isinstance(statement, _VIEWS):
        changes["query"] = _renamed_query(statement.query, old, new)
        changes["text"] = ""
    return render(replace(statement, **changes)) if changes else create_sql


def _renamed(value: object, old: Path, new: Path) -> object:
    match value:
        case Name() if value.parts == old:
            return Name(new)
        case SecretReference() if value.name.parts == old:
            return SecretReference(Name(new))
        case Option():
            inner = _renamed(value.value, old, new)
            return value if inner is value.value else Option(value.name, inner)  # type: ignore[arg-type]
        case tuple():
            inner_all = tuple(_renamed(part, old, new) for part in value)
            same = all(a is b for a, b in zip(inner_all, value, strict=True))
            return value if same else inner_all
        case exp.Expression():
            return value
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _renamed_fields(value, old, new)
        case _:
            return value


def _renamed_fields(value: Any, old: Path, new: Path) -> object:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    made = {name: _renamed(part, old, new) for name, part in found.items()}
    changed = {name: part for name, part in made.items() if part is not found[name]}
    return replace(value, **changed) if changed else value


def _renamed_query(query: exp.Query, old: Path, new: Path) -> exp.Query:
    copy = query.copy()
    for table in list(copy.find_all(exp.Table)):
        if tuple(part.name for part in table.parts) == old:
            set_table(table, new)
    return copy


def set_table(table: exp.Table, path: tuple[str, ...]) -> None:
    """Point a table node at a fully qualified name; what the query calls it stays."""
    database, schema, item = path
    if not table.alias and table.name != item:
        table.set("alias", exp.TableAlias(this=_identifier(table.name)))
    table.set("this", _identifier(item))
    table.set("db", _identifier(schema))
    table.set("catalog", _identifier(database) if database else None)


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=identifier(name) != name)
