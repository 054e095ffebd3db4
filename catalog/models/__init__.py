"""The catalog's rows, one file per noun.

`gid` is the id that users see (`u1`, `f1`): unique in its region and never reused; the primary key
is the database's own business. Only `catalog.commit`, `catalog.control`, `catalog.time`,
`catalog.drafts`, `catalog.maintenance`, `catalog.migrate` and `catalog.accounts` write; everything
else reads.
"""

from catalog.models.accounts import Account, ApiToken, User
from catalog.models.connections import ConnectionDetails, SecretValue
from catalog.models.feeds import ExportProgress, Feed, FeedProgress, Job
from catalog.models.history import AuditEvent, PlainTableWrite, StatusHistory
from catalog.models.items import Dependency, Item, ItemColumn
from catalog.models.namespaces import Database, FeatureFlag, Region, Role, Schema
from catalog.models.plans import (
    BuiltinRelation,
    Migration,
    MigrationEvent,
    MigrationStep,
    MigrationUndo,
)
from catalog.models.rollout import Announcement, Cohort, FlagDefault, RegionPlace
from catalog.models.schema_changes import SchemaChange, SchemaChangeEvent
from catalog.models.sources import ReferenceDrift, SourceDetails, SourceReference
from catalog.models.tables import TableDetails
from catalog.models.views import Comment, Maintainer, ViewDetails, ViewProgress, ViewVersion
from catalog.models.webhooks import WebhookDelivery
from catalog.models.wizards import Draft

__all__ = [
    "Account",
    "Announcement",
    "ApiToken",
    "AuditEvent",
    "BuiltinRelation",
    "Cohort",
    "Comment",
    "ConnectionDetails",
    "Database",
    "Dependency",
    "Draft",
    "ExportProgress",
    "FeatureFlag",
    "Feed",
    "FeedProgress",
    "FlagDefault",
    "Item",
    "ItemColumn",
    "Job",
    "Maintainer",
    "Migration",
    "MigrationEvent",
    "MigrationStep",
    "MigrationUndo",
    "PlainTableWrite",
    "ReferenceDrift",
    "Region",
    "RegionPlace",
    "Role",
    "Schema",
    "SchemaChange",
    "SchemaChangeEvent",
    "SecretValue",
    "SourceDetails",
    "SourceReference",
    "StatusHistory",
    "TableDetails",
    "User",
    "ViewDetails",
    "ViewProgress",
    "ViewVersion",
    "WebhookDelivery",
]
