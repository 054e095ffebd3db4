"""What secrets and connections hold beside their item."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item


class SecretValue(models.Model):
    """A secret's value, encrypted with the installation's key (Fernet)."""

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="secret_value"
    )
    encrypted = models.BinaryField()
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"value of {self.item}"


class ConnectionDetails(models.Model):
    """Resolved options. A secret stands as `{"secret": "u7"}`, never as its value."""

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="connection"
    )
    type = models.CharField(max_length=32)
    options = models.JSONField(default=dict)
    validated_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.type} connection {self.item.name}"
