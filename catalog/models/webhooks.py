"""Webhooks' newest deliveries."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item


class WebhookDelivery(models.Model):
    """One request that came to a webhook; `status` is the HTTP status that it got."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="deliveries")
    at = models.DateTimeField()
    status = models.PositiveIntegerField()
    bytes = models.BigIntegerField()
    rows = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        """Read newest first, for one webhook."""

        indexes = [models.Index(fields=["item", "-id"], name="delivery_item")]

    def __str__(self) -> str:
        return f"{self.item} {self.status}"
