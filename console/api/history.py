"""What happened and what runs: audit, status history, feeds."""

from __future__ import annotations

from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from console.api.lists import listing, page
from console.api.shapes.history import AuditSerializer, StatusChangeSerializer
from console.api.shapes.resources import FeedSerializer


class Audit(viewsets.ViewSet):
    """Every change of the catalog."""

    @listing(AuditSerializer, "history", operation_id="listAudit")
    def list(self, request: Request) -> Response:
        """State transitions, newest first."""
        return page(
            request,
            reads.audit(),
            AuditSerializer,
            lambda row: f"{row.event} {row.object_type} {row.user} {row.details}",
        )


class Feeds(viewsets.ViewSet):
    """What reads from upstream: one per upstream, whatever the number of sources and tables."""

    @listing(FeedSerializer, "history", operation_id="listFeeds")
    def list(self, request: Request) -> Response:
        """All feeds, with their slots and positions."""
        return page(request, reads.feeds(), FeedSerializer, lambda row: f"{row.id} {row.slot}")


class StatusHistory(viewsets.ViewSet):
    """Every change of a status."""

    @listing(StatusChangeSerializer, "history", operation_id="listStatusHistory")
    def list(self, request: Request) -> Response:
        """Changes of status, newest first."""
        return page(
            request,
            reads.status_history(),
            StatusChangeSerializer,
            lambda row: f"{row.id} {row.status} {row.error}",
        )
