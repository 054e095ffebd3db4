"""A materialized view beside its item: the definitions it had, and how far its data is."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item
from catalog.models.namespaces import Region


class ViewDetails(models.Model):
    """A materialized view; `target` is set for a replacement that has not been applied.

    `key` names columns that no two rows share. `guard` is what a replacement is applied by itself
    under (`catalog.plan.picture.Guard` as JSON), empty when a person applies it. `sealed`: nothing
    it reads can change.
    """

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="view"
    )
    target = models.ForeignKey(
        Item, null=True, on_delete=models.PROTECT, related_name="replacements"
    )
    cluster = models.CharField(max_length=255, default="quickstart")
    key = models.JSONField(default=list)
    options = models.JSONField(default=dict)
    guard = models.JSONField(default=dict)
    sealed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"materialized view {self.item.name}"


class ViewVersion(models.Model):
    """One definition that a view had: its data's shard is the view's from `since` (ms) on.

    The one with `until` 0 is in force. Those before it are kept, maintained now and then, until
    `expires_at`, so that an apply can be undone; `columns` and `needs` (item ids) are theirs.
    `event` says what put it in force: created, applied or undone; `replacement` is the id and
    `replacement_name` the full name of the replacement that it came from.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    shard = models.CharField(max_length=64, db_index=True)
    since = models.BigIntegerField(default=0)
    until = models.BigIntegerField(default=0)
    create_sql = models.TextField()
    columns = models.JSONField(default=list)
    key = models.JSONField(default=list)
    needs = models.JSONField(default=list)
    event = models.CharField(max_length=16, default="created")
    replacement = models.CharField(max_length=32, blank=True)
    replacement_name = models.TextField(blank=True)
    user = models.CharField(max_length=255, blank=True)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Numbered from 1 per view."""

        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="view_version_number")
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.item.name}"


class ViewProgress(models.Model):
    """How far the data of one shard of a view is; the data says so itself, this is a copy.

    Until `held_until` it is brought no further, so that a replacement can come up to it.
    Times in ms; `percent` and `rate` (rows a second) are of the hydration that runs. The staged_
    numbers are what a replacement would change at `staged_as_of`; see
    `ingest.contract.views.Staged`.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="view_progress")
    shard = models.CharField(max_length=64, unique=True)
    status = models.CharField(max_length=16, default="created")
    hydrated = models.BooleanField(default=False)
    readable_from = models.BigIntegerField(default=0)
    complete_through = models.BigIntegerField(default=0)
    rows = models.BigIntegerField(default=-1)
    bytes = models.BigIntegerField(default=-1)
    percent = models.PositiveIntegerField(default=0)
    rate = models.FloatField(default=0.0)
    how = models.CharField(max_length=16, blank=True)
    reason = models.TextField(blank=True)
    cancelled = models.BooleanField(default=False)
    held_until = models.DateTimeField(null=True, blank=True)
    staged_added = models.BigIntegerField(default=-1)
    staged_removed = models.BigIntegerField(default=-1)
    staged_changed = models.BigIntegerField(default=-1)
    staged_bytes = models.BigIntegerField(default=-1)
    staged_as_of = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    detail = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    sqlstate = models.CharField(max_length=5, blank=True)
    reported_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.shard} {self.status}"


class Maintainer(models.Model):
    """Who keeps a region's materialized views: a lease, as feeds have one.

    `epoch` grows with every owner; what an owner of before still reports is not taken.
    """

    region = models.OneToOneField(
        Region, primary_key=True, on_delete=models.CASCADE, related_name="maintainer"
    )
    epoch = models.BigIntegerField(default=0)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.region} {self.lease_owner}"


class Comment(models.Model):
    """COMMENT ON an item, or on one of its columns (`column` counts from 1, 0 is the item)."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="comments")
    column = models.PositiveIntegerField(default=0)
    text = models.TextField()

    class Meta:
        """One each."""

        constraints = [models.UniqueConstraint(fields=["item", "column"], name="comment_place")]

    def __str__(self) -> str:
        return self.text[:40]
