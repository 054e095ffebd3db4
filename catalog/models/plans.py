"""Migrations: what will be done, what was done, and how it is taken back."""

from __future__ import annotations

from django.db import models

from catalog.models.events import Event
from catalog.models.namespaces import Region


class Migration(models.Model):
    """One planned change of a whole region; its steps are rows of their own.

    `revision` and `digest` say what it was planned for. `summary` is what its page shows at once:
    counts, id map, blockers, feeds, bytes, times. `dbt` and `terraform` are what users must change
    in their own code. `pause` (ms) is how long writers of the catalog waited. It can be taken back
    until `expires_at`.
    """

    class State(models.TextChoices):
        """Where it stands."""

        PLANNED = "planned"
        APPROVED = "approved"
        PAUSED = "paused"
        APPLYING = "applying"
        APPLIED = "applied"
        ROLLING_BACK = "rolling back"
        ROLLED_BACK = "rolled back"
        SUPERSEDED = "superseded"

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="migrations")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=32)
    state = models.CharField(max_length=16, choices=State.choices, default=State.PLANNED)
    revision = models.BigIntegerField()
    digest = models.CharField(max_length=64)
    summary = models.JSONField(default=dict)
    dbt = models.TextField(blank=True)
    terraform = models.TextField(blank=True)
    user = models.CharField(max_length=255)
    planned_at = models.DateTimeField()
    approved_by = models.CharField(max_length=255, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    rolled_back_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    retention = models.PositiveIntegerField(default=7 * 24 * 3600)
    pause = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Numbered from 1 in a region; a region is changed by one at a time."""

        constraints = [
            models.UniqueConstraint(fields=["region", "number"], name="migration_number"),
            models.UniqueConstraint(
                fields=["region"],
                condition=models.Q(state__in=("applying", "rolling back")),
                name="migration_running",
            ),
        ]

    def __str__(self) -> str:
        return f"m{self.number} {self.kind} {self.state}"


class MigrationStep(models.Model):
    """One object's part: its statement before and after. `new_item` is set where an id changes."""

    migration = models.ForeignKey(Migration, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    action = models.CharField(max_length=32)
    item = models.CharField(max_length=32)
    new_item = models.CharField(max_length=32, blank=True)
    kind = models.CharField(max_length=32)
    new_kind = models.CharField(max_length=32)
    name = models.TextField()
    new_name = models.TextField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    why = models.TextField(blank=True)
    extra = models.JSONField(default=dict)

    class Meta:
        """Read in order, a page at a time."""

        constraints = [
            models.UniqueConstraint(fields=["migration", "number"], name="migration_step")
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.action} {self.name}"


class MigrationUndo(models.Model):
    """Some of the changes of rows that a migration made, with what takes them back."""

    migration = models.ForeignKey(Migration, on_delete=models.CASCADE, related_name="undo")
    number = models.PositiveIntegerField()
    changes = models.JSONField()

    class Meta:
        """Undone from the last to the first."""

        constraints = [
            models.UniqueConstraint(fields=["migration", "number"], name="migration_undo")
        ]

    def __str__(self) -> str:
        return f"changes from {self.number}"


class MigrationEvent(Event):
    """What happened to a migration, for whoever watches: a line with its time and user."""

    migration = models.ForeignKey(Migration, on_delete=models.CASCADE, related_name="events")

    class Meta:
        """Read in order."""

        indexes = [models.Index(fields=["migration", "at"], name="migration_event")]


class BuiltinRelation(models.Model):
    """A built-in object as the region remembers it: its id, and what it looked like.

    `kind` is `relation`, or `index` for a cluster's index on a log. `fingerprint` is of the
    number, names and types of its columns; `needs` are the names of the built-ins it reads.
    """

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="builtins")
    name = models.CharField(max_length=255)
    kind = models.CharField(max_length=16, default="relation")
    gid = models.CharField(max_length=32)
    oid = models.BigIntegerField()
    fingerprint = models.CharField(max_length=64)
    columns = models.JSONField(default=list)
    needs = models.JSONField(default=list)

    class Meta:
        """Names and ids are unique in a region."""

        constraints = [
            models.UniqueConstraint(fields=["region", "name"], name="builtin_name"),
            models.UniqueConstraint(fields=["region", "gid"], name="builtin_gid"),
        ]

    def __str__(self) -> str:
        return f"{self.gid} {self.name}"
