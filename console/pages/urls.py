"""Where the pages are."""

from __future__ import annotations

from django.urls import path

from console.pages import (
    account,
    audit,
    connections,
    items,
    overview,
    secrets,
    shell,
    sources,
    tables,
)

urlpatterns = [
    path("", overview.overview),
    path("theme", overview.theme),
    path("sign-in", account.sign_in),
    path("sign-out", account.sign_out),
    path("welcome", account.welcome),
    path("account", account.account),
    path("account/tokens/<uuid:client_id>/revoke", account.revoke),
    path("sources", sources.source_list),
    path("sources/<str:item_id>", sources.source_page),
    path("sources/<str:item_id>/refresh", sources.refresh),
    path("tables", tables.table_list),
    path("tables/<str:item_id>", tables.table_page),
    path("tables/<str:item_id>/rows", tables.table_rows),
    path("connections", connections.connection_list),
    path("connections/<str:item_id>", connections.connection_page),
    path("connections/<str:item_id>/validate", connections.validate),
    path("secrets", secrets.secret_list),
    path("secrets/rotate", secrets.rotate),
    path("shell", shell.shell),
    path("shell/run", shell.run),
    path("audit", audit.audit),
    path("objects", items.objects),
    path("objects/<str:item_id>", items.object_page),
    path("items/<str:item_id>/drop", items.drop),
    path("items/<str:item_id>/rename", items.rename),
    path("palette", items.palette),
]
