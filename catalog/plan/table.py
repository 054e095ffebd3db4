"""CREATE TABLE, plain and FROM SOURCE, and writes to plain tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported, WrongItemType
from catalog.names import dotted
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.export import export_columns, export_key, export_notices
from catalog.plan.facts import UpstreamFacts
from catalog.plan.flags import enabled
from catalog.plan.operations import CreateItem
from catalog.plan.picture import Entry, TableFacts
from catalog.plan.plans import Change, Write
from catalog.plan.scope import Scope, checked_identifier
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.table import CreateTable, CreateTableFromSource, Delete, Insert, Update
from catalog.sql.render import render
from ingest.contract.relation import Column, Relation

TAG = "CREATE TABLE"


def create_table(statement: CreateTable, scope: Scope) -> Change:
    """A plain table, written by INSERT, UPDATE and DELETE."""
    path = scope.new_path(statement.name)
    if notice := scope.taken("table", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    key = _plain_key(statement)
    _no_duplicates([column.name for column in statement.columns])
    relation = Relation(
        tuple(
            Column(
                checked_identifier(column.name),
                column.type,
                nullable=column.nullable and column.name not in key,
            )
            for column in statement.columns
        ),
        key,
    )
    defaults = {column.name: column.default for column in statement.columns if column.default}
    canonical = replace(statement, name=full(path), if_not_exists=False)
    facts = TableFacts(defaults=defaults)
    fields = collection(scope, relation, facts)
    entry = new_entry(scope, "table", path, render(canonical), **fields)
    return Change(TAG, (CreateItem(entry),))


def _plain_key(statement: CreateTable) -> tuple[str, ...]:
    inline = tuple(column.name for column in statement.columns if column.primary_key)
    if len(inline) > 1 or (inline and statement.primary_key):
        message = f'multiple primary keys for table "{statement.name.last}" are not allowed'
        raise InvalidStatement(message, sqlstate="42P16")
    key = inline or statement.primary_key
    names = {column.name for column in statement.columns}
    for name in key:
        if name not in names:
            message = f'column "{name}" named in key does not exist'
            raise InvalidStatement(message, sqlstate="42703")
    return key


def _no_duplicates(names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            message = f'column "{name}" specified more than once'
            raise InvalidStatement(message, sqlstate="42701")
        seen.add(name)


def create_table_from_source(
    statement: CreateTableFromSource, facts: UpstreamFacts, scope: Scope
) -> Change:
    """A read-only table that follows one upstream reference, with columns of its own."""
    path = scope.new_path(statement.name)
    if notice := scope.taken("table", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    if not enabled(scope, "enable_create_table_from_source"):
        message = "CREATE TABLE .. FROM SOURCE is not available"
        hint = "ALTER SYSTEM SET enable_create_table_from_source = on."
        raise NotSupported(message, hint=hint)
    source = scope.item(statement.source, "source")
    (reference,) = facts.references
    columns = export_columns(statement, reference)
    key = export_key(reference, columns)
    canonical = replace(
        statement,
        name=full(path),
        source=full(source.path),
        reference=full((reference.namespace, reference.name)),
        if_not_exists=False,
    )
    relation = Relation(
        tuple(Column(column.name, column.type, column.nullable) for column in columns), key
    )
    table = TableFacts(
        source=source.id,
        namespace=reference.namespace,
        reference=reference.name,
        identity=reference.identity,
        columns=columns,
        text_columns=statement.text_columns,
        exclude_columns=statement.exclude_columns,
        snapshot_group=facts.group,
    )
    fields = collection(scope, relation, table)
    entry = new_entry(scope, "table", path, render(canonical), needs=(source.id,), **fields)
    return Change(TAG, (CreateItem(entry),), export_notices(reference), (source,))


def insert(statement: Insert, scope: Scope) -> Write:
    """INSERT; columns that are not named get their default."""
    target = _writable(statement.name, scope, "insert into")
    names = statement.columns
    _no_duplicates(list(names))
    for name in names:
        _column(target, name)
    return Write("insert", target, query=_bare_values(statement.query), columns=names)


def _bare_values(query: exp.Query) -> exp.Query | exp.Values:
    """VALUES alone, which the parser gives as `SELECT * FROM (VALUES ..)`, as themselves."""
    from_ = query.args.get("from_")
    inner = from_.this if from_ is not None else None
    if isinstance(inner, exp.Subquery):
        inner = inner.this
    clauses = {name for name, value in query.args.items() if value}
    bare = isinstance(query, exp.Select) and query.is_star and clauses == {"expressions", "from_"}
    return inner if bare and isinstance(inner, exp.Values) else query


def update(statement: Update, scope: Scope) -> Write:
    """UPDATE .. SET .. [WHERE ..]."""
    target = _writable(statement.name, scope, "update")
    _no_duplicates([name for name, _ in statement.assignments])
    for name, _ in statement.assignments:
        _column(target, name)
    return Write("update", target, assignments=statement.assignments, where=statement.where)


def delete(statement: Delete, scope: Scope) -> Write:
    """DELETE .. [WHERE ..]."""
    target = _writable(statement.name, scope, "delete from")
    return Write("delete", target, where=statement.where)


def _writable(name: Name, scope: Scope, verb: str) -> Entry:
    entry = scope.item(name)
    if entry.kind == "table" and not entry.table.source:
        return entry
    if entry.kind in {"table", "source"}:
        message = f"cannot {verb} non-writeable table '{dotted(name.parts)}'"
        hint = "Its rows come from a source; write to the upstream table."
        raise NotSupported(message, hint=hint, position=name.at if name.at >= 0 else None)
    if entry.kind in {"view", "materialized view"}:
        message = f"cannot {verb} {entry.kind} '{dotted(name.parts)}'"
        raise NotSupported(message)
    message = f"{entry.name} is a {entry.kind} not a table"
    raise WrongItemType(message)


def _column(target: Entry, name: str) -> None:
    if name not in target.relation.names:
        message = f'column "{name}" of relation "{target.name}" does not exist'
        raise InvalidStatement(message, sqlstate="42703")
