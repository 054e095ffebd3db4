"""Where the wizards are, under /sources/."""

from __future__ import annotations

from django.urls import path

from console.wizards import begin, connection, review, source, tables

urlpatterns = [
    path("new", begin.kinds),
    path("new/begin", begin.begin),
    path("new/tables", begin.more_tables),
    path("new/demo", begin.demo),
    path("new/generator", begin.generator),
    path("new/<uuid:draft_id>", begin.resume),
    path("new/<uuid:draft_id>/discard", begin.discard),
    path("new/<uuid:draft_id>/demo", connection.demo),
    path("new/<uuid:draft_id>/connection", connection.submit),
    path("new/<uuid:draft_id>/remember", connection.remember),
    path("new/<uuid:draft_id>/another", connection.another),
    path("new/<uuid:draft_id>/source", source.submit),
    path("new/<uuid:draft_id>/tree", tables.tree),
    path("new/<uuid:draft_id>/schema", tables.schema),
    path("new/<uuid:draft_id>/select", tables.select),
    path("new/<uuid:draft_id>/columns/<str:key>", tables.columns),
    path("new/<uuid:draft_id>/rename/<str:key>", tables.rename),
    path("new/<uuid:draft_id>/sql", tables.sql),
    path("new/<uuid:draft_id>/refresh", tables.refresh),
    path("new/<uuid:draft_id>/create", review.create),
]
