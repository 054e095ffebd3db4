"""CREATE MATERIALIZED VIEW, and what replacements share with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported
from catalog.names import CLUSTER
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.operations import CreateItem, DropItem, Operation
from catalog.plan.picture import ViewFacts
from catalog.plan.plans import Change
from catalog.plan.query_body import Fixed, fixed
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope, supported_cluster
from catalog.plan.view import not_itself, replaceable
from catalog.plan.view_options import view_options
from catalog.query.blocks import unmaintainable
from catalog.query.compile import compile_view
from catalog.query.names import Names
from catalog.results import Notice
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.render import render

TAG = "CREATE MATERIALIZED VIEW"


@dataclass(frozen=True)
class Definition:
    """A maintained view's query and what follows from it."""

    body: Fixed
    key: tuple[str, ...]
    sealed: bool


def create_materialized_view(
    statement: CreateMaterializedView, scope: Scope, system: Names | None
) -> Change:
    """A view whose rows are kept current; like a view's, its columns are fixed here."""
    path = scope.new_path(statement.name)
    operations: list[Operation] = []
    old = scope.picture.by_path.get(path)
    if old is not None and statement.or_replace:
        operations.append(DropItem(replaceable(old, scope, "materialized view")))
    elif notice := scope.taken("materialized view", path, if_not_exists=statement.if_not_exists):
        return Change(TAG, notices=(notice,))
    found = definition(statement, scope, system)
    if old is not None:
        not_itself(old, found.body.used)
    canonical = replace(
        statement,
        name=full(path),
        query=found.body.query,
        text="",
        cluster=Name((CLUSTER,)),
        or_replace=False,
        if_not_exists=False,
    )
    facts = ViewFacts(key=found.key, sealed=found.sealed, options=view_options(statement))
    fields = collection(scope, found.body.relation, facts)
    create_sql = render(canonical)
    entry = new_entry(
        scope, "materialized view", path, create_sql, needs=found.body.needs, **fields
    )
    used = tuple(found.body.used.values())
    return Change(TAG, (*operations, CreateItem(entry)), notices(found), touches=used)


def definition(
    statement: CreateMaterializedView | CreateReplacement, scope: Scope, system: Names | None
) -> Definition:
    """The statement's query, looked at as one whose rows are to be kept.

    Raises StatementError for what cannot be kept current.
    """
    supported_cluster(statement.cluster)
    names = ReadableNames(scope)
    _keepable(statement.query, names)
    body = fixed(statement, scope, system)
    if any(entry.kind == "source" and not entry.fed for entry in body.used.values()):
        message = "materialized views over the progress of a source are not supported yet"
        raise NotSupported(message, hint="Name a table of the source.")
    _free(body)
    return Definition(body, _key(body, names), sealed=not _changing(body))


_TAKEN = ("mz_timestamp", "mz_diff")


def _free(body: Fixed) -> None:
    """Raises for a column with a name that a view's changes have for their own."""
    for name in body.relation.names:
        if name in _TAKEN:
            message = f'materialized views cannot have a column named "{name}"'
            raise InvalidStatement(message, hint="Give it another name with AS.", sqlstate="42701")


def _changing(body: Fixed) -> bool:
    """Whether anything that the query reads can change."""
    return any(
        entry.kind == "table"
        or entry.fed
        or (isinstance(entry.facts, ViewFacts) and not entry.facts.sealed)
        for entry in body.used.values()
    )


def notices(found: Definition) -> tuple[Notice, ...]:
    """What its maker should know."""
    if not found.sealed:
        return ()
    return (Notice("the query reads nothing that can change: the materialized view is sealed"),)


def _keepable(query: exp.Query, names: Names) -> None:
    """Raises for a call whose value depends on when, where or by whom it is asked."""
    if name := unmaintainable(query, names):
        message = f"cannot materialize call to {name}"
        raise NotSupported(message, hint="Use it in queries over the view.")


def _key(body: Fixed, names: Names) -> tuple[str, ...]:
    """The view's own names for the columns that no two rows share, as far as that is known."""
    kept = compile_view(body.query, names)
    own = dict(zip(kept.relation.names, body.relation.names, strict=True))
    return tuple(own[name] for name in kept.key)
