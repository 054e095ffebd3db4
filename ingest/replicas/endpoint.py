"""A Spark Connect endpoint: its address, and whether it answers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc

from ingest.errors import HeadraceError

DEFAULT_PORT = 15002


@dataclass(frozen=True)
class Endpoint:
    """An existing Spark Connect server (YARN, Kubernetes, a cloud), named by its sc:// address."""

    remote: str

    @property
    def target(self) -> str:
        """`host:port`, as gRPC dials it; raises HeadraceError for anything but sc://host."""
        parts = urlsplit(self.remote)
        if parts.scheme != "sc" or not parts.hostname:
            message = f"{self.remote} is not a Spark Connect address"
            raise HeadraceError(message, hint="Write it as sc://host:15002.")
        return f"{parts.hostname}:{parts.port or DEFAULT_PORT}"

    def answers(self, timeout: float) -> bool:
        """Whether a gRPC connection stands within `timeout` seconds."""
        with grpc.insecure_channel(self.target) as channel:
            try:
                grpc.channel_ready_future(channel).result(timeout=timeout)
            except grpc.FutureTimeoutError:
                return False
            return True
