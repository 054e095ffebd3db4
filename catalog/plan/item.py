"""DROP, RENAME, and databases and schemas."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import DependentItems, DuplicateItem, InvalidStatement
from catalog.names import SYSTEM_SCHEMAS, Path, dotted
from catalog.plan.definitions import renamed
from catalog.plan.operations import ChangeItem, CreateSpace, DropItem, DropSpace
from catalog.plan.picture import Entry, Namespace
from catalog.plan.plans import Change
from catalog.plan.query_body import replacement_named
from catalog.plan.scope import Scope, checked_identifier, checked_schema, refused
from catalog.results import Notice
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.names import ItemKind, Name

SHOWN = 10


def missing(kind: ItemKind, name: Name) -> Notice:
    """What IF EXISTS says of something that is not there."""
    return Notice(f'{kind} "{dotted(name.parts)}" does not exist, skipping', "42704")


def create_namespace(statement: CreateNamespace, scope: Scope) -> Change:
    """CREATE DATABASE makes its schema `public` too, as Materialize does."""
    tag = f"CREATE {statement.kind.upper()}"
    at = statement.name.at if statement.name.at >= 0 else None
    path = scope.space_path(statement.kind, statement.name)
    if statement.kind == "schema":
        checked_schema(path[1], at)
        if path[:1] not in scope.picture.namespaces:
            raise scope.unknown(Name((*path, ""), statement.name.at))
    checked_identifier(path[-1], at)
    if path in scope.picture.namespaces:
        if statement.if_not_exists:
            notice = Notice(f'{statement.kind} "{path[-1]}" already exists, skipping', "42710")
            return Change(tag, notices=(notice,))
        message = f"{statement.kind} '{path[-1]}' already exists"
        raise DuplicateItem(message, sqlstate="42P04" if len(path) == 1 else "42P06")
    counters = scope.picture.counters
    made = [CreateSpace(Namespace(f"u{counters.namespace}", counters.oid, path, scope.role))]
    if statement.kind == "database":
        public = Namespace(
            f"u{counters.namespace + 1}", counters.oid + 1, (*path, "public"), scope.role
        )
        made.append(CreateSpace(public))
    return Change(tag, tuple(made))


def drop(statement: Drop, scope: Scope) -> Change:
    """DROP of one or more; RESTRICT is the default and looks at all the names together."""
    kind = "REPLACEMENT" if statement.replacement else statement.kind.upper()
    tag = f"DROP {kind}"
    if statement.kind in {"schema", "database"}:
        return _drop_spaces(statement, scope, tag)
    notices: list[Notice] = []
    entries: list[Entry] = []
    for name in statement.names:
        if statement.if_exists and scope.find(name) is None:
            notices.append(missing(statement.kind, name))
            continue
        _not_system(name)
        if statement.replacement:
            entries.append(replacement_named(name, scope))
        else:
            entries.append(scope.item(name, statement.kind))
    dropped = closure(scope, entries, cascade=statement.cascade)
    operations = tuple(DropItem(entry) for entry in dropped)
    return Change(tag, operations, tuple(notices), touches=tuple(entries))


def closure(scope: Scope, entries: list[Entry], *, cascade: bool) -> tuple[Entry, ...]:
    """What goes when these do, dependents first; a source takes its progress along.

    Raises DependentItems when others need them, unless `cascade`.
    """
    entries = _with_progress(scope, entries, cascade=cascade)
    chosen = {entry.id for entry in entries}
    closure = scope.picture.closure(dict.fromkeys(entry.id for entry in entries))
    if cascade or all(entry.id in chosen for entry in closure):
        return closure
    for entry in entries:
        dependents = [
            other for other in scope.picture.dependents(entry.id) if other.id not in chosen
        ]
        if dependents:
            raise still_needed(entry, dependents)
    return closure


def _with_progress(scope: Scope, entries: list[Entry], *, cascade: bool) -> list[Entry]:
    """The entries with the progress of the sources among them, and the sources whose progress is
    dropped with CASCADE; raises DependentItems without it."""
    found = {entry.id: entry for entry in entries}
    for entry in entries:
        owner = scope.picture.progress_of(entry)
        if owner is not None and owner.id not in found:
            if not cascade:
                raise still_needed(entry, [owner])
            found[owner.id] = owner
    for entry in tuple(found.values()):
        if entry.kind == "source":
            needing = scope.picture.dependents(entry.id)
            found |= {one.id: one for one in needing if scope.picture.progress_of(one)}
    return list(found.values())


def still_needed(entry: Entry, dependents: list[Entry]) -> DependentItems:
    """The error for dropping what others need; the detail lists the first of them."""
    first = dependents[0]
    message = (
        f'cannot drop {entry.kind} "{entry.name}": '
        f'still depended upon by {first.kind} "{first.name}"'
    )
    lines = [f'{other.kind} "{dotted(other.path)}"' for other in dependents[:SHOWN]]
    if len(dependents) > SHOWN:
        lines.append(f"and {len(dependents) - SHOWN} more")
    return DependentItems(
        message,
        detail="Depended upon by " + ", ".join(lines) + "." if len(dependents) > 1 else None,
        hint="Use DROP .. CASCADE to drop the dependent objects too.",
    )


def _drop_spaces(statement: Drop, scope: Scope, tag: str) -> Change:
    notices: list[Notice] = []
    operations: dict[str | tuple[str, ...], DropItem | DropSpace] = {}
    for name in statement.names:
        _not_system(name)
        space = scope.space(statement.kind, name)
        if space is None:
            if not statement.if_exists:
                path = scope.space_path(statement.kind, name)
                raise scope.unknown(Name((*path, "", "")[:3], name.at))
            notices.append(missing(statement.kind, name))
            continue
        for operation in _drop_space(statement, scope, space):
            operations.setdefault(_dropped(operation), operation)
    return Change(tag, tuple(operations.values()), tuple(notices))


def _dropped(operation: DropItem | DropSpace) -> str | tuple[str, ...]:
    return operation.entry.id if isinstance(operation, DropItem) else operation.space.path


def _drop_space(statement: Drop, scope: Scope, space: Namespace) -> list[DropItem | DropSpace]:
    depth = len(space.path)
    inner = [
        other
        for path, other in scope.picture.namespaces.items()
        if len(path) > depth and path[:depth] == space.path
    ]
    items = scope.picture.in_schema(space.path)
    if (items or inner) and not statement.cascade:
        holds = "schemas" if statement.kind == "database" else "objects"
        message = (
            f"{statement.kind} '{dotted(space.path)}' cannot be dropped without CASCADE "
            f"while it contains {holds}"
        )
        raise DependentItems(message)
    closure = scope.picture.closure(item.id for item in items)
    return [
        *(DropItem(entry) for entry in closure),
        *(DropSpace(other) for other in inner),
        DropSpace(space),
    ]


def _not_system(name: Name) -> None:
    for part in name.parts:
        if part in SYSTEM_SCHEMAS:
            message = f"system schema '{part}' cannot be modified"
            raise InvalidStatement(message, sqlstate="42501")


def rename(statement: Rename, scope: Scope) -> Change:
    """RENAME TO: the id stays; definitions that name the item are written anew."""
    tag = f"ALTER {statement.kind.upper()}"
    if statement.kind in {"schema", "database"}:
        raise refused(tag + " .. RENAME")
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(tag, notices=(missing(statement.kind, statement.name),))
    entry = scope.item(statement.name, statement.kind)
    checked_identifier(statement.new_name)
    path: Path = (entry.path[0], entry.path[1], statement.new_name)
    if path == entry.path:
        return Change(tag, touches=(entry,))
    scope.taken(statement.kind, path, if_not_exists=False)
    changed = replace(entry, path=path, create_sql=renamed(entry.create_sql, entry.path, path))
    operations = [ChangeItem(changed, renamed_from=entry.name)]
    needed = (scope.picture.entries[item] for item in entry.needs)
    for other in (*scope.picture.dependents(entry.id), *needed):
        text = renamed(other.create_sql, entry.path, path)
        if text != other.create_sql:
            operations.append(ChangeItem(replace(other, create_sql=text)))
    return Change(tag, tuple(operations), touches=(entry,))
