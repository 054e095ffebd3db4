"""Lines of what happened to something."""

from __future__ import annotations

from django.db import models


class Event(models.Model):
    """A line with its time and user; of what, the model that is made of it says."""

    at = models.DateTimeField()
    user = models.CharField(max_length=255)
    event = models.CharField(max_length=32)
    text = models.TextField(blank=True)

    class Meta:
        """Without a table of its own."""

        abstract = True

    def __str__(self) -> str:
        return f"{self.event} {self.text}"
