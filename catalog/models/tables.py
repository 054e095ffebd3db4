"""What a table holds beside its item."""

from __future__ import annotations

from django.db import models

from catalog.models.items import Item


class TableDetails(models.Model):
    """A table; `source` is null for a plain one.

    `export_columns` are `ingest.contract.commands.ExportColumn`s as JSON, `key` the names of the
    key's columns here, `snapshot_group` shared by tables created in one transaction.
    """

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="table"
    )
    source = models.ForeignKey(Item, null=True, on_delete=models.PROTECT, related_name="exports")
    namespace = models.CharField(max_length=255, blank=True)
    reference = models.CharField(max_length=255, blank=True)
    identity = models.BigIntegerField(default=0)
    text_columns = models.JSONField(default=list)
    exclude_columns = models.JSONField(default=list)
    export_columns = models.JSONField(default=list)
    key = models.JSONField(default=list)
    snapshot_group = models.CharField(max_length=64, blank=True)

    class Meta:
        """Looked up by upstream table."""

        indexes = [models.Index(fields=["source", "namespace", "reference"], name="table_export")]

    def __str__(self) -> str:
        return f"table {self.item.name}"
