"""SHOW and SHOW CREATE: answers that the picture alone gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from catalog.names import CLUSTER, SYSTEM_SCHEMAS, dotted
from catalog.plan.picture import ConnectionFacts, Entry, SourceFacts
from catalog.plan.plans import Rows, StagedChanges
from catalog.plan.query_body import replacement_named
from catalog.plan.scope import Scope
from catalog.sql.nodes.names import ItemKind, Name
from catalog.sql.nodes.replacement import ShowChanges
from catalog.sql.nodes.show import ShowCreate, ShowObjects
from ingest.contract.relation import Column, Relation
from ingest.contract.types import TEXT, Type

Row = tuple[object, ...]
ITEM_KINDS: dict[str, ItemKind] = {
    "secret": "secret",
    "connection": "connection",
    "source": "source",
    "table": "table",
    "view": "view",
    "materialized view": "materialized view",
}


_PLANNED = {*ITEM_KINDS, "subsource", "database", "schema", "column", "cluster", "object"}


def needs_system(statement: ShowObjects, scope: Scope) -> bool:
    """Whether the answer is a query over the system catalog: the picture does not hold it."""
    system_schema = (
        statement.in_schema is not None
        and statement.kind != "column"
        and statement.in_schema.last in SYSTEM_SCHEMAS
    )
    named = statement.of if statement.kind == "column" else None
    built_in = named is not None and scope.find(named) is None
    return bool(statement.where) or statement.kind not in _PLANNED or system_schema or built_in


def show_objects(statement: ShowObjects, scope: Scope) -> Rows:
    """SHOW of any plural, in order of name."""
    match statement.kind:
        case "database":
            spaces = [path[0] for path in scope.picture.namespaces if len(path) == 1]
            return _answer(("name", "comment"), [(name, "") for name in spaces], statement)
        case "schema":
            return _answer(("name", "comment"), _schemas(statement, scope), statement)
        case "column":
            return _columns(statement, scope)
        case "subsource":
            sources = (one for one in _items(statement, scope) if one.kind == "source")
            parts = ((one.name, _type(one)) for one in sources)
            kept = [part for part in parts if part[1] in {"subsource", "progress"}]
            return _answer(("name", "type"), kept, statement)
        case "cluster":
            return _answer(
                ("name", "replicas", "comment"), [(CLUSTER, "r1 (local)", "")], statement
            )
        case "object":
            rows = [
                (entry.name, entry.kind.replace(" ", "-"), _comment(entry, scope))
                for entry in _items(statement, scope)
            ]
            return _answer(("name", "type", "comment"), rows, statement)
        case _:
            return _of_kind(statement, scope)


def _of_kind(statement: ShowObjects, scope: Scope) -> Rows:
    kind = ITEM_KINDS[statement.kind]
    items = [entry for entry in _items(statement, scope) if entry.kind == kind]
    if kind == "source":
        rows: list[Row] = [
            (entry.name, _type(entry), CLUSTER, _comment(entry, scope)) for entry in items
        ]
        return _answer(("name", "type", "cluster", "comment"), rows, statement)
    if kind == "connection":
        rows = [(entry.name, _type(entry), _comment(entry, scope)) for entry in items]
        return _answer(("name", "type", "comment"), rows, statement)
    if kind == "materialized view":
        rows = [(entry.name, entry.view.cluster, _comment(entry, scope)) for entry in items]
        return _answer(("name", "cluster", "comment"), rows, statement)
    rows = [(entry.name, _comment(entry, scope)) for entry in items]
    return _answer(("name", "comment"), rows, statement)


def _comment(entry: Entry, scope: Scope, column: int = 0) -> str:
    return scope.picture.comments.get((entry.id, column), "")


def _type(entry: Entry) -> str:
    facts = entry.facts
    if isinstance(facts, ConnectionFacts | SourceFacts):
        return facts.type
    return "subsource" if entry.fed else "progress"


def _items(statement: ShowObjects, scope: Scope) -> Iterable[Entry]:
    if statement.on_source is not None:
        source = scope.item(statement.on_source, "source")
        return scope.picture.dependents(source.id)
    return scope.picture.in_schema(_schema(statement, scope))


def _schema(statement: ShowObjects, scope: Scope) -> tuple[str, ...]:
    if statement.in_schema is None:
        schema = scope.search_path[0] if scope.search_path else ""
        return (scope.database, schema)
    path = scope.space_path("schema", statement.in_schema)
    if not scope.has_schema(path):
        raise scope.unknown(Name((*path, ""), statement.in_schema.at))
    return path


def _schemas(statement: ShowObjects, scope: Scope) -> list[Row]:
    database = statement.in_schema.parts if statement.in_schema else (scope.database,)
    if database not in scope.picture.namespaces:
        raise scope.unknown(Name((*database, "", "")))
    return [
        (path[1], "")
        for path in scope.picture.namespaces
        if len(path) == 2 and path[:1] == database
    ]


def _columns(statement: ShowObjects, scope: Scope) -> Rows:
    name = statement.of or statement.in_schema or Name(("",))
    entry = scope.item(name)
    if not entry.relation.columns:
        raise scope.unknown(name, ("table",))
    columns = Relation(
        (
            Column("name", TEXT, nullable=False),
            Column("nullable", Type("boolean"), nullable=False),
            Column("type", TEXT, nullable=False),
            Column("comment", TEXT, nullable=False),
        )
    )
    rows = tuple(
        (column.name, column.nullable, column.type.sql, _comment(entry, scope, position))
        for position, column in enumerate(entry.relation.columns, 1)
        if _like(column.name, statement.like)
    )
    return Rows(f"SELECT {len(rows)}", columns, rows, touches=(entry,))


def _answer(names: tuple[str, ...], rows: Iterable[Row], statement: ShowObjects) -> Rows:
    relation = Relation(tuple(Column(name, TEXT, nullable=False) for name in names))
    kept = sorted((row for row in rows if _like(str(row[0]), statement.like)), key=_by_name)
    return Rows(f"SELECT {len(kept)}", relation, tuple(kept))


def _by_name(row: Row) -> str:
    return str(row[0])


def _like(name: str, pattern: str | None) -> bool:
    """SQL's LIKE: `%` any text, `_` one character, a backslash takes the next one as it is."""
    if pattern is None:
        return True
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    words = {"%": ".*", "_": "."}
    expression = "".join(words.get(part, re.escape(part[-1])) for part in parts)
    return re.fullmatch(expression, name, re.DOTALL) is not None


def show_create(statement: ShowCreate, scope: Scope) -> Rows:
    """The canonical definition; it never holds a secret's value, redacted or not."""
    if statement.replacement:
        entry = replacement_named(statement.name, scope)
    else:
        entry = scope.item(statement.name, statement.kind)
    relation = Relation(
        (Column("name", TEXT, nullable=False), Column("create_sql", TEXT, nullable=False))
    )
    row = (dotted(entry.path), entry.create_sql)
    return Rows("SELECT 1", relation, (row,), touches=(entry,))


def show_changes(statement: ShowChanges, scope: Scope) -> StagedChanges:
    """The rows that a replacement would change; raises WrongItemType for another view."""
    replacement = replacement_named(statement.name, scope)
    target = scope.picture.entries[replacement.view.target]
    return StagedChanges(target, replacement, statement.limit)
