"""Where the entrances are: REST under /api, pages everywhere else."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("api/", include("console.api.urls")),
    path("query", include("console.api.query_urls")),
    path("sources/", include("console.wizards.urls")),
    path("views/", include("console.wizards.view_urls")),
    path("", include("console.pages.urls")),
]
