"""Which consumer answers which websocket, and who is let through to it."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import URLPattern, path

from console.live.door import Door
from console.live.page import PageConsumer
from console.live.sql import QueryConsumer, SqlConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/live", AllowedHostsOriginValidator(AuthMiddlewareStack(PageConsumer.as_asgi()))),
    path("api/experimental/sql", Door(SqlConsumer.as_asgi())),
    path("query", Door(QueryConsumer.as_asgi())),
]
