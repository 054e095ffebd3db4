"""Planners: a statement and what purification learned, to a plan. Pure and synchronous.

One file per noun; nothing here asks a database, an engine or an upstream system.
"""

from __future__ import annotations

from typing import assert_never

from catalog.plan import (
    comment,
    connection,
    flags,
    guard,
    item,
    legacy_alter,
    materialized_view,
    replacement,
    secret,
    show,
    source,
    subscribe,
    table,
    view,
    webhook,
)
from catalog.plan.facts import NOTHING, UpstreamFacts
from catalog.plan.plans import Plan, Read, SetVariable, ShowVariable, TransactionControl
from catalog.plan.scope import Scope
from catalog.query.names import Names
from catalog.sql.nodes import comment as comments
from catalog.sql.nodes import connection as connections
from catalog.sql.nodes import cursors
from catalog.sql.nodes import item as items
from catalog.sql.nodes import legacy as legacies
from catalog.sql.nodes import materialized_view as materialized_views
from catalog.sql.nodes import query as queries
from catalog.sql.nodes import replacement as replacements
from catalog.sql.nodes import secret as secrets
from catalog.sql.nodes import session as sessions
from catalog.sql.nodes import show as shows
from catalog.sql.nodes import source as sources
from catalog.sql.nodes import subscribe as subscriptions
from catalog.sql.nodes import table as tables
from catalog.sql.nodes import view as views
from catalog.sql.nodes import webhook as webhooks
from catalog.sql.nodes.statement import Statement


def plan(
    statement: Statement,
    scope: Scope,
    facts: UpstreamFacts = NOTHING,
    system: Names | None = None,
) -> Plan:
    """The plan of any statement; raises StatementError for what it gets wrong.

    `system` resolves built-in relations in the queries of views.
    """
    if isinstance(statement, queries.Select):
        return Read(statement)
    if isinstance(statement, _Viewing):
        return _viewing(statement, scope, system)
    if isinstance(statement, subscriptions.Subscribe):
        return subscribe.subscribe(statement, scope, system)
    if isinstance(statement, _SessionStatement):
        return _session(statement)
    if isinstance(statement, _PlainTable):
        return _plain_table(statement, scope)
    if isinstance(statement, _SessionsOwn):
        raise TypeError(statement)
    return _definition(statement, scope, facts)


_SessionsOwn = (
    sessions.Savepoint | sessions.Discard | cursors.Declare | cursors.Fetch | cursors.Close
)
"""What a session does itself, without a plan."""
_SessionStatement = (
    sessions.SetVariable
    | sessions.TransactionControl
    | shows.ShowVariable
    | queries.ExplainTimestamp
)
_PlainTable = tables.CreateTable | tables.Insert | tables.Update | tables.Delete


def _session(statement: _SessionStatement) -> Plan:
    match statement:
        case sessions.SetVariable():
            return SetVariable(statement.name.lower(), statement.value)
        case sessions.TransactionControl():
            return TransactionControl(statement.action)
        case shows.ShowVariable():
            return ShowVariable(statement.name.lower())
        case queries.ExplainTimestamp():
            return Read(statement.select, explain_timestamp=True)
        case _:
            assert_never(statement)


_Viewing = (
    views.CreateView
    | materialized_views.CreateMaterializedView
    | replacements.CreateReplacement
    | replacements.ApplyReplacement
    | replacements.RollbackReplacement
    | replacements.SetGuard
    | replacements.ShowChanges
)


def _viewing(statement: _Viewing, scope: Scope, system: Names | None) -> Plan:
    match statement:
        case views.CreateView():
            return view.create_view(statement, scope, system)
        case materialized_views.CreateMaterializedView():
            return materialized_view.create_materialized_view(statement, scope, system)
        case replacements.CreateReplacement():
            return replacement.create_replacement(statement, scope, system)
        case replacements.ApplyReplacement():
            return replacement.apply_replacement(statement, scope)
        case replacements.RollbackReplacement():
            return replacement.rollback_replacement(statement, scope)
        case replacements.SetGuard():
            return guard.set_guard(statement, scope)
        case replacements.ShowChanges():
            return show.show_changes(statement, scope)
        case _:
            assert_never(statement)


def _plain_table(statement: _PlainTable, scope: Scope) -> Plan:
    match statement:
        case tables.CreateTable():
            return table.create_table(statement, scope)
        case tables.Insert():
            return table.insert(statement, scope)
        case tables.Update():
            return table.update(statement, scope)
        case tables.Delete():
            return table.delete(statement, scope)
        case _:
            assert_never(statement)


_Item = (
    items.CreateNamespace
    | items.Drop
    | items.Rename
    | comments.CommentOn
    | shows.ShowObjects
    | shows.ShowCreate
)
_Upstream = (
    connections.CreateConnection
    | connections.ValidateConnection
    | sources.CreateSource
    | sources.RefreshReferences
    | legacies.CreateSubsource
    | legacies.AddSubsources
    | legacies.DropSubsources
    | tables.CreateTableFromSource
    | webhooks.CreateWebhook
)
_Definition = _Item | _Upstream | secrets.CreateSecret | secrets.AlterSecret | sessions.AlterSystem


def _definition(statement: _Definition, scope: Scope, facts: UpstreamFacts) -> Plan:
    match statement:
        case secrets.CreateSecret():
            return secret.create_secret(statement, scope)
        case secrets.AlterSecret():
            return secret.alter_secret(statement, scope)
        case sessions.AlterSystem():
            return flags.alter_system(statement, scope)
        case (
            connections.CreateConnection()
            | connections.ValidateConnection()
            | sources.CreateSource()
            | sources.RefreshReferences()
            | legacies.CreateSubsource()
            | legacies.AddSubsources()
            | legacies.DropSubsources()
            | tables.CreateTableFromSource()
            | webhooks.CreateWebhook()
        ):
            return _upstream(statement, scope, facts)
        case _:
            return _item(statement, scope)


def _upstream(statement: _Upstream, scope: Scope, facts: UpstreamFacts) -> Plan:
    match statement:
        case connections.CreateConnection():
            return connection.create_connection(statement, scope)
        case connections.ValidateConnection():
            return connection.validate_connection(statement, facts, scope)
        case sources.CreateSource():
            return source.create_source(statement, facts, scope)
        case sources.RefreshReferences():
            return source.refresh_references(statement, facts, scope)
        case tables.CreateTableFromSource():
            return table.create_table_from_source(statement, facts, scope)
        case webhooks.CreateWebhook():
            return webhook.create_webhook(statement, scope)
        case _:
            return _legacy(statement, scope, facts)


_Legacy = legacies.CreateSubsource | legacies.AddSubsources | legacies.DropSubsources


def _legacy(statement: _Legacy, scope: Scope, facts: UpstreamFacts) -> Plan:
    match statement:
        case legacies.AddSubsources():
            return legacy_alter.add_subsources(statement, facts, scope)
        case legacies.DropSubsources():
            return legacy_alter.drop_subsources(statement, scope)
        case legacies.CreateSubsource():
            return legacy_alter.create_subsource()
        case _:
            assert_never(statement)


def _item(statement: _Item, scope: Scope) -> Plan:
    match statement:
        case items.CreateNamespace():
            return item.create_namespace(statement, scope)
        case items.Drop():
            return item.drop(statement, scope)
        case items.Rename():
            return item.rename(statement, scope)
        case comments.CommentOn():
            return comment.comment_on(statement, scope)
        case shows.ShowObjects():
            return show.show_objects(statement, scope)
        case shows.ShowCreate():
            return show.show_create(statement, scope)
        case _:
            assert_never(statement)
