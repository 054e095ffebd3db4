"""The web process: HTTP by Django, websockets by Channels, from known origins only."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
_http = get_asgi_application()

from console import fail_point  # noqa: E402 (settings are read)
from console.api.webhook import before  # noqa: E402 (the same)
from console.live.routing import websocket_urlpatterns  # noqa: E402 (models need the set-up above)

fail_point.arm("web")
application = ProtocolTypeRouter(
    {"http": before(_http), "websocket": URLRouter(websocket_urlpatterns)}
)
