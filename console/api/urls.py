"""Everything under /api/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from console.api.account import Me, Tokens
from console.api.connections import Connections
from console.api.health import Live, Ready
from console.api.history import Audit, Feeds, StatusHistory
from console.api.materialized_views import Lineages, MaterializedViews
from console.api.migrations import Migrations
from console.api.regions import (
    Announcements,
    Cohorts,
    FlagDefaults,
    RegionFlags,
    Regions,
    RegionView,
)
from console.api.replacements import Replacements
from console.api.schema import Docs
from console.api.schema_changes import SchemaChanges
from console.api.secrets import Secrets
from console.api.sources import Sources
from console.api.sql import SqlView
from console.api.tables import Tables
from console.api.views import Views
from console.api.webhooks import WebhookResources

router = SimpleRouter(trailing_slash=False)
router.register("connections", Connections, "connection")
router.register("secrets", Secrets, "secret")
router.register("sources", Sources, "source")
router.register("tables", Tables, "table")
router.register("views", Views, "view")
router.register("materialized-views", MaterializedViews, "materialized-view")
router.register("lineage", Lineages, "lineage")
router.register("replacements", Replacements, "replacement")
router.register("webhooks", WebhookResources, "webhook")
router.register("migrations", Migrations, "migration")
router.register("schema-changes", SchemaChanges, "schema-change")
router.register("regions", Regions, "region")
router.register("cohorts", Cohorts, "cohort")
router.register("announcements", Announcements, "announcement")
router.register("tokens", Tokens, "token")
router.register("audit", Audit, "audit")
router.register("feeds", Feeds, "feed")
router.register("status-history", StatusHistory, "status-history")

urlpatterns: list[URLPattern | URLResolver] = [
    path("sql", SqlView.as_view(), name="api-sql"),
    path("me", Me.as_view(), name="api-me"),
    path("livez", Live.as_view(), name="livez"),
    path("readyz", Ready.as_view(), name="readyz"),
    path("flag-defaults", FlagDefaults.as_view(), name="flag-defaults"),
    path("region/<str:provider>/<str:place>", RegionView.as_view(), name="region"),
    path("region/<str:provider>/<str:place>/flags", RegionFlags.as_view(), name="region-flags"),
    path("schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs", Docs.as_view(url_name="api-schema"), name="api-docs"),
    path("", include(router.urls)),
]
