"""Replacements of materialized views: CREATE REPLACEMENT, and its apply and rollback."""

from __future__ import annotations

from dataclasses import replace

from catalog.errors import InvalidStatement, NotSupported, StatementError, WrongItemType
from catalog.names import CLUSTER, dotted
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.definitions import definition as stored
from catalog.plan.definitions import view_query
from catalog.plan.dependents import still_mean_the_same
from catalog.plan.flags import enabled
from catalog.plan.item import missing
from catalog.plan.materialized_view import definition, notices
from catalog.plan.operations import ApplyReplacement, CreateItem, RollbackReplacement
from catalog.plan.picture import Entry, Picture, Version, ViewFacts
from catalog.plan.plans import Change
from catalog.plan.query_body import is_replacement, replaced
from catalog.plan.readable import ReadableNames
from catalog.plan.schemas import fits, joined
from catalog.plan.scope import Scope
from catalog.plan.view_options import GUARDS, guard_of, view_options
from catalog.query.compile import compile_view
from catalog.query.names import Names
from catalog.sql.nodes import replacement as nodes
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import Name
from catalog.sql.render import render
from ingest.contract.commands import Segment

TAG = "CREATE MATERIALIZED VIEW"
ALTER = "ALTER MATERIALIZED VIEW"
_FLAG = "enable_replacement_materialized_views"


def create_replacement(
    statement: nodes.CreateReplacement, scope: Scope, system: Names | None
) -> Change:
    """A definition that is computed beside the one it may take the place of."""
    if not enabled(scope, _FLAG):
        message = "CREATE REPLACEMENT is not available"
        raise NotSupported(message, hint=f"ALTER SYSTEM SET {_FLAG} = on allows it.")
    path = scope.new_path(statement.name)
    if notice := scope.taken("materialized view", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    target = _target(statement, scope)
    found = definition(statement, scope, system)
    _acyclic(scope.picture, target, found.body.needs)
    fits(target.relation, found.body.relation)
    canonical = replace(
        statement,
        name=full(path),
        target=full(target.path),
        query=found.body.query,
        text="",
        cluster=Name((CLUSTER,)),
        if_not_exists=False,
    )
    facts = ViewFacts(
        target=target.id,
        key=found.key,
        sealed=found.sealed,
        options=view_options(statement),
        guard=guard_of(statement),
    )
    fields = collection(scope, found.body.relation, facts)
    needs = tuple(dict.fromkeys((target.id, *found.body.needs)))
    create_sql = render(canonical)
    entry = new_entry(scope, "materialized view", path, create_sql, needs=needs, **fields)
    touches = (target, *found.body.used.values())
    return Change(TAG, (CreateItem(entry),), notices(found), touches)


def _target(statement: nodes.CreateReplacement, scope: Scope) -> Entry:
    target = scope.item(statement.target)
    if target.kind != "materialized view":
        raise _mismatched(target, statement.name.last)
    if is_replacement(target):
        raise replaced(target)
    return target


def _mismatched(target: Entry, replacement: str) -> WrongItemType:
    message = f"cannot replace {target.kind} {target.name} with materialized view {replacement}"
    return WrongItemType(message)


def _acyclic(picture: Picture, target: Entry, needs: tuple[str, ...]) -> None:
    """Raises when the target is among what `needs` read, at any depth."""
    seen: set[str] = set()
    stack = list(needs)
    while stack:
        item = stack.pop()
        if item == target.id:
            message = f"replacement would cause {target.name} to depend on itself"
            raise InvalidStatement(message, sqlstate="42P17")
        if item not in seen and item in picture.entries:
            seen.add(item)
            stack.extend(picture.entries[item].needs)


def apply_replacement(statement: nodes.ApplyReplacement, scope: Scope) -> Change:
    """The target takes the replacement's definition and data, and keeps all else."""
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(ALTER, notices=(missing("materialized view", statement.name),))
    target = scope.item(statement.name, "materialized view")
    _not_applied(target, statement.replacement, scope)
    replacement = scope.item(statement.replacement, "materialized view")
    if replacement.view.target != target.id:
        raise _mismatched(target, replacement.name)
    if target.view.sealed:
        message = f"materialized view {target.name} is sealed and thus cannot be replaced"
        detail = (
            "The materialized view has already computed its output until the end of time, "
            "so replacing its definition would have no effect."
        )
        raise StatementError(message, detail=detail, sqlstate="55000")
    needs = tuple(item for item in replacement.needs if item != target.id)
    _acyclic(scope.picture, target, needs)
    fits(target.relation, replacement.relation)
    after = applied(target, replacement, needs)
    still_mean_the_same(scope, after, "replace")
    operation = ApplyReplacement(target, replacement, after)
    return Change(ALTER, (operation,), touches=(target, replacement))


def _not_applied(target: Entry, name: Name, scope: Scope) -> None:
    """Raises when the replacement is gone because it was applied."""
    names = [dotted(path) for path in scope.candidates(name)]
    if target.view.applied in names and scope.find(name) is None:
        message = f"replacement {name.last} was applied to {target.name} already"
        raise StatementError(message, sqlstate="55000")


def applied(target: Entry, replacement: Entry, needs: tuple[str, ...]) -> Entry:
    """The target as it is after the apply; its newest segment starts at 0 until that is known."""
    statement = stored(replacement.create_sql)
    if not isinstance(statement, nodes.CreateReplacement):
        raise TypeError(replacement.create_sql)
    made = CreateMaterializedView(
        full(target.path),
        statement.query,
        statement.text,
        statement.columns,
        statement.cluster,
        statement.refresh,
        tuple(option for option in statement.options if option.name not in GUARDS),
        body=statement.body,
    )
    facts = replace(
        replacement.view,
        target="",
        guard=None,
        segments=(*target.view.segments, Segment(replacement.shard, 0)),
        version=target.view.version + 1,
        applied=dotted(replacement.path),
        before=None,
    )
    return replace(
        target,
        create_sql=render(made),
        relation=joined(target.relation, replacement.relation),
        shard=replacement.shard,
        needs=needs,
        facts=facts,
    )


def rollback_replacement(statement: nodes.RollbackReplacement, scope: Scope) -> Change:
    """The definition from before the last apply comes back, with its data."""
    if statement.if_exists and scope.find(statement.name) is None:
        return Change(ALTER, notices=(missing("materialized view", statement.name),))
    target = scope.item(statement.name, "materialized view")
    version = target.view.before
    if version is None:
        message = f'materialized view "{target.name}" has no applied replacement to roll back'
        raise StatementError(message, sqlstate="55000")
    _kept(target, version, scope)
    _acyclic(scope.picture, target, version.needs)
    after = _restored(target, version)
    still_mean_the_same(scope, after, "roll back")
    operation = RollbackReplacement(target, version, after)
    return Change(ALTER, (operation,), touches=(target,))


def _kept(target: Entry, version: Version, scope: Scope) -> None:
    """Raises unless the version's data and all it reads are still there."""
    if not version.shard:
        detail = f"The definition before was kept until {version.expires_at}."
    elif any(item not in scope.picture.entries for item in version.needs):
        detail = "Something that the definition before reads was dropped."
    else:
        detail = _wrong(version, scope)
    if not detail:
        return
    message = f'cannot roll back materialized view "{target.name}"'
    hint = f"Create a replacement and apply it; the definition was: {version.create_sql}"
    raise StatementError(message, detail=detail, hint=hint, sqlstate="55000")


def _wrong(version: Version, scope: Scope) -> str:
    """What is wrong with the version's query as things are now; empty for nothing."""
    try:
        compile_view(view_query(version.create_sql), ReadableNames(scope))
    except StatementError as error:
        return error.message
    return ""


def _restored(target: Entry, version: Version) -> Entry:
    statement = stored(version.create_sql)
    if not isinstance(statement, CreateMaterializedView):
        raise TypeError(version.create_sql)
    facts = replace(
        target.view,
        key=version.key,
        sealed=False,
        options=view_options(statement),
        segments=(*target.view.segments, Segment(version.shard, 0)),
        version=target.view.version + 1,
        applied="",
        before=None,
    )
    return replace(
        target,
        create_sql=render(replace(statement, name=full(target.path))),
        relation=version.relation,
        shard=version.shard,
        needs=version.needs,
        facts=facts,
    )
