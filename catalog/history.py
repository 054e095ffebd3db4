"""Writing what happened: audit events and status changes."""

from __future__ import annotations

import datetime as dt
from typing import Any

from catalog.models import AuditEvent, Region, StatusHistory


class Audit:
    """The audit events of one commit, numbered when they are written."""

    def __init__(self, region: Region, user: str, now: dt.datetime) -> None:
        self._region = region
        self._user = user
        self._now = now
        self._events: list[AuditEvent] = []

    def add(self, event: str, kind: str, gid: str, details: dict[str, Any]) -> None:
        """Note one transition."""
        self._events.append(
            AuditEvent(
                region=self._region,
                number=self._region.next_audit,
                event=event,
                object_type=kind,
                object_id=gid,
                details=details,
                user=self._user,
                occurred_at=self._now,
            )
        )
        self._region.next_audit += 1

    def write(self) -> None:
        """Write them; the region's counter is saved with the region."""
        AuditEvent.objects.bulk_create(self._events, batch_size=500)
        self._events = []


def status(region: Region, gid: str, status: str, now: dt.datetime, **texts: str) -> None:
    """A status change; `texts` are error, detail and hint."""
    StatusHistory.objects.create(
        region=region, object_id=gid, status=status, occurred_at=now, **texts
    )
