"""Where the editors of views are, under /views/."""

from __future__ import annotations

from django.urls import path

from console.wizards import materialized_view, replacement

urlpatterns = [
    path("new", materialized_view.new_view),
    path("new/check", materialized_view.check),
    path("new/rows", materialized_view.rows),
    path("<str:item_id>/replace", replacement.new_replacement),
    path("<str:item_id>/replace/check", replacement.check),
    path("<str:item_id>/replace/rows", replacement.rows),
]
