"""Feeds: the physical consumers of upstream systems, their leases, progress and jobs."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item
from catalog.models.namespaces import Region


class Feed(models.Model):
    """One consumer of one upstream, shared by all sources of its `identity` and `publication`.

    `desired`: running while a source needs it, dropped once the last one is gone; the row goes
    when its slot and its log are gone too. An upstream that stays away leaves it abandoned: the
    row keeps the name of the slot. `epoch` grows with every start and fences older
    writers. A lease that has run out may be taken by anybody.
    """

    class Desired(models.TextChoices):
        """What the catalog wants of the feed."""

        RUNNING = "running"
        DROPPED = "dropped"
        ABANDONED = "abandoned"

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="feeds")
    gid = models.CharField(max_length=32)
    kind = models.CharField(max_length=32)
    identity = models.CharField(max_length=500)
    publication = models.CharField(max_length=255, blank=True)
    slot = models.CharField(max_length=63, blank=True)
    definition = models.JSONField(default=dict)
    desired = models.CharField(
        max_length=16, choices=Desired.choices, default=Desired.RUNNING, db_index=True
    )
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One living feed per upstream."""

        constraints = [
            models.UniqueConstraint(fields=["region", "gid"], name="feed_gid"),
            models.UniqueConstraint(
                fields=["region", "identity", "publication"],
                condition=models.Q(desired="running"),
                name="feed_upstream",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gid} {self.identity}"


class FeedProgress(models.Model):
    """A feed's newest report; see `ingest.contract.reports.FeedReport` for units."""

    feed = models.OneToOneField(
        Feed, primary_key=True, on_delete=models.CASCADE, related_name="progress"
    )
    status = models.CharField(max_length=16, default="created")
    complete_through = models.BigIntegerField(default=0)
    upto = models.BigIntegerField(default=0)
    upstream = models.BigIntegerField(default=0)
    retained_bytes = models.BigIntegerField(default=-1)
    messages = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    reported_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.feed} {self.status}"


class ExportProgress(models.Model):
    """A table's newest report; see `ingest.contract.reports.ExportReport` for units."""

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="progress"
    )
    status = models.CharField(max_length=16, default="created")
    phase = models.CharField(max_length=16, default="validate")
    readable_from = models.BigIntegerField(default=0)
    rows_known = models.BigIntegerField(default=-1)
    rows_staged = models.BigIntegerField(default=0)
    bytes_staged = models.BigIntegerField(default=0)
    updates_committed = models.BigIntegerField(default=0)
    quarantined = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    reported_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.item} {self.status}"


class Job(models.Model):
    """Short background work on one subject (`apply f1`), done by one worker at a time.

    `due_at` says when it may run next; done jobs are deleted, periodic ones get a new `due_at`.
    """

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=32)
    subject = models.CharField(max_length=100)
    arguments = models.JSONField(default=dict)
    due_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)

    class Meta:
        """One job of a kind per subject."""

        constraints = [
            models.UniqueConstraint(fields=["region", "kind", "subject"], name="job_subject")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
