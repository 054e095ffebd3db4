"""Which function knows a statement's clauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from catalog.sql.clauses import cursors, items, legacy, rows, session, subscribe, views, webhook
from catalog.sql.clauses.style import Style
from catalog.sql.layout import Clause
from catalog.sql.nodes.comment import CommentOn
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.cursors import Close, Declare, Fetch
from catalog.sql.nodes.item import CreateNamespace, Drop, Rename
from catalog.sql.nodes.legacy import AddSubsources, CreateSubsource, DropSubsources
from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.query import ExplainTimestamp, Select
from catalog.sql.nodes.replacement import (
    ApplyReplacement,
    CreateReplacement,
    RollbackReplacement,
    SetGuard,
    ShowChanges,
)
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from catalog.sql.nodes.session import (
    AlterSystem,
    Discard,
    Savepoint,
    SetVariable,
    TransactionControl,
)
from catalog.sql.nodes.show import ShowCreate, ShowObjects, ShowVariable
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from catalog.sql.nodes.statement import Statement
from catalog.sql.nodes.subscribe import Subscribe
from catalog.sql.nodes.table import (
    CreateTable,
    CreateTableFromSource,
    Delete,
    Insert,
    Update,
)
from catalog.sql.nodes.view import CreateView
from catalog.sql.nodes.webhook import CreateWebhook


def clauses(statement: Statement, style: Style) -> list[Clause]:
    """The statement's clauses in order; empty ones count for nothing."""
    return _WRITERS[type(statement)](statement, style)


_WRITERS: dict[type, Callable[[Any, Style], list[Clause]]] = {
    CreateSecret: items.create_secret,
    AlterSecret: items.alter_secret,
    CreateConnection: items.create_connection,
    ValidateConnection: items.validate_connection,
    CreateSource: items.create_source,
    RefreshReferences: items.refresh_references,
    CreateSubsource: legacy.create_subsource,
    AddSubsources: legacy.add_subsources,
    DropSubsources: legacy.drop_subsources,
    CreateTableFromSource: rows.create_table_from_source,
    CreateTable: rows.create_table,
    CreateWebhook: webhook.create_webhook,
    Insert: rows.insert,
    Update: rows.update,
    Delete: rows.delete,
    CreateView: rows.create_view,
    CreateMaterializedView: views.create_materialized_view,
    CreateReplacement: views.create_replacement,
    ApplyReplacement: views.apply_replacement,
    RollbackReplacement: views.rollback_replacement,
    SetGuard: views.set_guard,
    ShowChanges: views.show_changes,
    CommentOn: views.comment_on,
    CreateNamespace: items.create_namespace,
    Drop: items.drop,
    Rename: items.rename,
    ShowObjects: session.show_objects,
    ShowCreate: session.show_create,
    ShowVariable: session.show_variable,
    Select: rows.select,
    ExplainTimestamp: rows.explain_timestamp,
    Subscribe: subscribe.subscribe,
    Declare: cursors.declare,
    Fetch: cursors.fetch,
    Close: cursors.close,
    TransactionControl: session.transaction,
    Savepoint: session.savepoint,
    SetVariable: session.set_variable,
    AlterSystem: session.alter_system,
    Discard: session.discard,
}
