"""`manage.py pgwire`: psql and other PostgreSQL clients; the supervisor runs it."""

from __future__ import annotations

import asyncio
import signal
import ssl
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from console.pgwire.server import Place, Server


class Command(BaseCommand):
    """Serves PostgreSQL's protocol on HEADRACE_HOST and HEADRACE_PGPORT."""

    help = "Serve psql and other PostgreSQL clients."
    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM or Ctrl-C."""
        try:
            asyncio.run(self._serve())
        except OSError as error:
            message = f"cannot listen: {error}"
            raise CommandError(message) from error

    async def _serve(self) -> None:
        place = Place(
            settings.HEADRACE_HOST,
            settings.HEADRACE_PGPORT,
            settings.HEADRACE_PG_CLIENTS,
            _certificate(),
        )
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        server = Server(place)
        port = await server.start()
        self.stdout.write(f"listening on {place.host}:{port}")
        await stopping.wait()
        await server.stop()
        self.stdout.write("stopped")


def _certificate() -> ssl.SSLContext | None:
    """What HEADRACE_PG_CERTIFICATE and HEADRACE_PG_KEY name, if anything."""
    if not settings.HEADRACE_PG_CERTIFICATE:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(settings.HEADRACE_PG_CERTIFICATE, settings.HEADRACE_PG_KEY or None)
    return context
