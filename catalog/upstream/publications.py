"""What a connection's upstream publishes, asked for when a source is being named."""

from __future__ import annotations

from catalog.here import region_here
from catalog.snapshot import current
from catalog.upstream.targets import postgres_target
from ingest import engine
from ingest.contract.upstream import Publication


def publications(connection_id: str, region: str = "") -> tuple[Publication, ...]:
    """The publications of the connection's database; none for an unknown connection.

    Raises PermissionDenied for a host that may not be reached, IngestError when it is away.
    """
    region = region or region_here()
    entry = current(region).entries.get(connection_id)
    if entry is None or entry.kind != "connection":
        return ()
    return engine.list_publications(postgres_target(region, entry.connection))
