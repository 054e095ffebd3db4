"""What people have begun and not finished."""

from __future__ import annotations

import uuid

from django.db import models

from catalog.models.accounts import User
from catalog.models.namespaces import Region


class Draft(models.Model):
    """A wizard's answers so far; holds no secret values."""

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    kind = models.CharField(max_length=32)
    title = models.CharField(max_length=200, blank=True)
    state = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """Listed newest first per user."""

        indexes = [models.Index(fields=["user", "-updated_at"], name="draft_user")]

    def __str__(self) -> str:
        return f"{self.kind} draft of {self.user}"
