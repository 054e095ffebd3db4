"""The union of all statements: what `parse` returns and every `match` must exhaust."""

from __future__ import annotations

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
from catalog.sql.nodes.subscribe import Subscribe
from catalog.sql.nodes.table import CreateTable, CreateTableFromSource, Delete, Insert, Update
from catalog.sql.nodes.view import CreateView
from catalog.sql.nodes.webhook import CreateWebhook

Statement = (
    CreateSecret
    | AlterSecret
    | CreateConnection
    | ValidateConnection
    | CreateSource
    | RefreshReferences
    | CreateSubsource
    | AddSubsources
    | DropSubsources
    | CreateTable
    | CreateTableFromSource
    | CreateWebhook
    | Insert
    | Update
    | Delete
    | CreateView
    | CreateMaterializedView
    | CreateReplacement
    | ApplyReplacement
    | RollbackReplacement
    | SetGuard
    | ShowChanges
    | CommentOn
    | CreateNamespace
    | Drop
    | Rename
    | ShowObjects
    | ShowCreate
    | ShowVariable
    | Select
    | Subscribe
    | Declare
    | Fetch
    | Close
    | ExplainTimestamp
    | TransactionControl
    | Savepoint
    | SetVariable
    | Discard
    | AlterSystem
)
ANSWERED = (
    ValidateConnection,
    ShowObjects,
    ShowCreate,
    ShowVariable,
    ShowChanges,
    Select,
    Subscribe,
    Fetch,
    ExplainTimestamp,
)
"""Statements whose result is rows."""

DEFINITIONS = (
    CreateSecret,
    CreateConnection,
    CreateSource,
    AddSubsources,
    DropSubsources,
    CreateTable,
    CreateTableFromSource,
    CreateWebhook,
    CreateView,
    CreateMaterializedView,
    CreateReplacement,
    CommentOn,
    Drop,
    Rename,
)
"""Statements that only change the catalog; several of them in one text stand or fall together."""
