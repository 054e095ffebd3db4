"""Tables that are replaced by new ones because upstream changed."""

from __future__ import annotations

from django.db import models

from catalog.models.events import Event
from catalog.models.namespaces import Region


class SchemaChange(models.Model):
    """One table that is being replaced by a new one on the same reference.

    `table` is the old table's id, `path` its full name. `names` are the full names, by id, that
    the new table and the new definitions of what reads it have until the end. `drift` are the
    lines that were seen upstream at the beginning. What is done is told by the catalog itself.
    """

    class State(models.TextChoices):
        """Where it stands."""

        OPEN = "open"
        DONE = "done"
        GIVEN_UP = "given up"

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="schema_changes")
    number = models.PositiveIntegerField()
    table = models.CharField(max_length=32)
    path = models.JSONField()
    names = models.JSONField(default=dict)
    drift = models.JSONField(default=list)
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    user = models.CharField(max_length=255)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Numbered in their region; a table has one that is open at most."""

        constraints = [
            models.UniqueConstraint(fields=["region", "number"], name="schema_change_number"),
            models.UniqueConstraint(
                fields=["region", "table"],
                condition=models.Q(state="open"),
                name="schema_change_table",
            ),
        ]

    def __str__(self) -> str:
        return f"c{self.number} {self.state}"


class SchemaChangeEvent(Event):
    """What happened to one: a line with its time and user."""

    change = models.ForeignKey(SchemaChange, on_delete=models.CASCADE, related_name="events")

    class Meta:
        """Read in order."""

        indexes = [models.Index(fields=["change", "at"], name="schema_change_event")]
