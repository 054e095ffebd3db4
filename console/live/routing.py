"""Which consumer answers which websocket."""

from __future__ import annotations

from django.urls import URLPattern, path

from console.live.page import PageConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/live", PageConsumer.as_asgi()),
]
