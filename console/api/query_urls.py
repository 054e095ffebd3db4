"""POST /query."""

from __future__ import annotations

from django.urls import path

from console.api.sql import QueryView

urlpatterns = [path("", QueryView.as_view(), name="query")]
