"""What happened: audit events, status changes, writes to plain tables."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item
from catalog.models.namespaces import Region


class AuditEvent(models.Model):
    """One state transition, written in the transaction that made it."""

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="audit_events")
    number = models.BigIntegerField()
    event = models.CharField(max_length=32)
    object_type = models.CharField(max_length=32)
    object_id = models.CharField(max_length=32, blank=True)
    details = models.JSONField(default=dict)
    user = models.CharField(max_length=255)
    occurred_at = models.DateTimeField()

    class Meta:
        """Numbered without gaps in a region."""

        constraints = [models.UniqueConstraint(fields=["region", "number"], name="audit_number")]
        indexes = [models.Index(fields=["region", "object_id"], name="audit_object")]

    def __str__(self) -> str:
        return f"{self.number} {self.event} {self.object_type}"


class StatusHistory(models.Model):
    """A change of a source's, feed's or table's status; never two equal ones in a row."""

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="status_history")
    object_id = models.CharField(max_length=32)
    status = models.CharField(max_length=16)
    error = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    occurred_at = models.DateTimeField()

    class Meta:
        """Read newest first per object."""

        indexes = [
            models.Index(fields=["region", "object_id", "-occurred_at"], name="status_object")
        ]

    def __str__(self) -> str:
        return f"{self.object_id} {self.status}"


class PlainTableWrite(models.Model):
    """One INSERT, UPDATE or DELETE on a plain table, at its mz_timestamp.

    It is here before its rows are in Delta, `pending`: nobody reads the table at its time or later
    until it is over. One write at a time per table, so that versions come in the order of times.
    `writer` is the process that makes it, `host:pid:nonce`.
    """

    class State(models.TextChoices):
        """Whether the rows are known to be there."""

        PENDING = "pending"
        DONE = "done"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="writes")
    time = models.BigIntegerField()
    operation = models.CharField(max_length=16)
    rows = models.BigIntegerField(default=0)
    role = models.CharField(max_length=255, blank=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.DONE)
    writer = models.CharField(max_length=200, blank=True)
    begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Times grow per table."""

        constraints = [
            models.UniqueConstraint(fields=["item", "time"], name="write_time"),
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(state="pending"), name="write_pending"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.rows} at {self.time}"
