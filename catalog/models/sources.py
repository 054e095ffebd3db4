"""Sources and what they know of their upstream."""

from __future__ import annotations

from django.db import models

from catalog.models.feeds import Feed
from catalog.models.items import Item


class SourceDetails(models.Model):
    """A source: its connection and feed. `type` is `postgres` or `load-generator`.

    For load generators `generator` names the kind and `options` are the statement's, defaults
    filled in; `started_at` (ms) fixes the function of time.
    """

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="source"
    )
    type = models.CharField(max_length=32)
    connection = models.ForeignKey(
        Item, null=True, on_delete=models.PROTECT, related_name="connected_sources"
    )
    feed = models.ForeignKey(Feed, on_delete=models.PROTECT, related_name="sources")
    publication = models.CharField(max_length=255, blank=True)
    generator = models.CharField(max_length=32, blank=True)
    options = models.JSONField(default=dict)
    started_at = models.BigIntegerField(default=0)
    references_updated_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.type} source {self.item.name}"


class SourceReference(models.Model):
    """One upstream table as it was at the last refresh.

    `columns` are `ingest.contract.upstream.UpstreamColumn`s as JSON; `identity` is upstream's own
    id; `added_at` is when a refresh first saw it.
    """

    source = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="references")
    namespace = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    identity = models.BigIntegerField(default=0)
    columns = models.JSONField(default=list)
    key = models.JSONField(default=list)
    replica_identity = models.CharField(max_length=16, default="default")
    rows = models.BigIntegerField(default=-1)
    bytes = models.BigIntegerField(default=-1)
    problems = models.JSONField(default=list)
    added_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        """One row per upstream table and source."""

        constraints = [
            models.UniqueConstraint(
                fields=["source", "namespace", "name"], name="source_reference"
            )
        ]

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}"


class ReferenceDrift(models.Model):
    """Something a refresh found changed upstream.

    `event`: added, dropped (a table); column added, column dropped, column retyped.
    """

    source = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="drift")
    namespace = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    event = models.CharField(max_length=32)
    column = models.CharField(max_length=255, blank=True)
    before = models.CharField(max_length=255, blank=True)
    after = models.CharField(max_length=255, blank=True)
    noticed_at = models.DateTimeField()

    class Meta:
        """Read newest first per source."""

        indexes = [models.Index(fields=["source", "-noticed_at"], name="drift_source")]

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name} {self.event} {self.column}"
