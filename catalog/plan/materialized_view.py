"""CREATE MATERIALIZED VIEW, and what replacements share with it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.errors import InvalidStatement, NotSupported
from catalog.names import CLUSTER
from catalog.plan.creation import collection, full, new_entry
from catalog.plan.definitions import view_query
from catalog.plan.operations import CreateItem, DropItem, Operation
from catalog.plan.picture import ViewFacts
from catalog.plan.plans import Change
from catalog.plan.query_body import Fixed, fixed
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope, supported_cluster
from catalog.plan.view import not_itself, replaceable
from catalog.plan.view_options import view_options
from catalog.query.binder import Moment
from catalog.query.calls import pg_call
from catalog.query.compile import compile_query
from catalog.query.names import Names
from catalog.results import Notice
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.replacement import CreateReplacement
from catalog.sql.render import render

TAG = "CREATE MATERIALIZED VIEW"
_LATER = Moment(86_400_000, dt.datetime(2001, 2, 3, 4, 5, 6, tzinfo=dt.UTC))
_SESSION = (
    exp.CurrentCatalog,
    exp.CurrentDatabase,
    exp.CurrentSchema,
    exp.CurrentUser,
    exp.SessionUser,
    exp.Rand,
)
_RANDOM = frozenset(("random", "gen_random_uuid", "clock_timestamp", "statement_timestamp"))
_CLOCK = (exp.CurrentTimestamp, exp.Localtimestamp, exp.CurrentDate, exp.CurrentTime)


@dataclass(frozen=True)
class Definition:
    """A maintained view's query and what follows from it."""

    body: Fixed
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
    facts = ViewFacts(sealed=found.sealed, options=view_options(statement))
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
    body = fixed(statement, scope, system)
    _keepable(statement.query, body, scope)
    kinds = {entry.kind for entry in body.used.values()}
    if "source" in kinds:
        message = "materialized views over the progress of a source are not supported yet"
        raise NotSupported(message, hint="Name a table of the source.")
    return Definition(body, sealed=not _changing(body))


def _changing(body: Fixed) -> bool:
    """Whether anything that the query reads can change."""
    return any(
        entry.kind == "table" or (isinstance(entry.facts, ViewFacts) and not entry.facts.sealed)
        for entry in body.used.values()
    )


def notices(found: Definition) -> tuple[Notice, ...]:
    """What its maker should know."""
    if not found.sealed:
        return ()
    return (Notice("the query reads nothing that can change: the materialized view is sealed"),)


def _keepable(query: exp.Query, body: Fixed, scope: Scope) -> None:
    """Raises for a call whose value depends on when, where or by whom it is asked."""
    queries = [query]
    for entry in body.used.values():
        if entry.kind == "view":
            queries.append(view_query(entry.create_sql))
    for one in queries:
        for node in one.walk():
            if name := _unkeepable(node):
                message = f"cannot materialize call to {name}"
                hint = "Its value changes by itself; use it in queries over the view."
                raise NotSupported(message, hint=hint, position=None)
    if compile_query(query, ReadableNames(scope), _LATER).sql != body.sql:
        message = "cannot materialize a query whose rows depend on when it is asked"
        raise InvalidStatement(message, sqlstate="0A000")


def _unkeepable(node: exp.Expr) -> str:
    called = pg_call(node) if isinstance(node, exp.Func) else None
    name = called.name if called is not None else ""
    if isinstance(node, _CLOCK) or name in ("now", "mz_now"):
        return name or "now"
    if isinstance(node, _SESSION) or name in _RANDOM:
        return name or node.sql(dialect="postgres").lower()
    return ""
