"""Items: everything with a name in a schema."""

from __future__ import annotations

from django.db import models

from catalog.models.namespaces import Region, Role, Schema


class Item(models.Model):
    """A secret, connection, source, table, view or materialized view.

    `shard` names the collection that holds its data, apart from its id, so that swaps move no
    data; empty for items without data. `create_sql` is canonical and fully qualified, without
    secrets.
    """

    class Kind(models.TextChoices):
        """What the item is."""

        SECRET = "secret"  # noqa: S105
        CONNECTION = "connection"
        SOURCE = "source"
        TABLE = "table"
        VIEW = "view"
        MATERIALIZED_VIEW = "materialized view"

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="items")
    gid = models.CharField(max_length=32)
    oid = models.BigIntegerField()
    kind = models.CharField(max_length=32, choices=Kind.choices)
    schema = models.ForeignKey(Schema, on_delete=models.PROTECT, related_name="items")
    name = models.CharField(max_length=255)
    owner = models.ForeignKey(Role, on_delete=models.PROTECT, related_name="items")
    create_sql = models.TextField()
    shard = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        """All kinds share one namespace per schema."""

        constraints = [
            models.UniqueConstraint(fields=["schema", "name"], name="item_name"),
            models.UniqueConstraint(fields=["region", "gid"], name="item_gid"),
            models.UniqueConstraint(fields=["region", "oid"], name="item_oid"),
        ]
        indexes = [
            models.Index(fields=["region", "kind"], name="item_kind"),
            models.Index(fields=["shard"], name="item_shard"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class ItemColumn(models.Model):
    """One column of a source, table or view of either kind; `type` in PostgreSQL's spelling."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="columns")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    type = models.CharField(max_length=100)
    nullable = models.BooleanField(default=True)
    default = models.TextField(null=True, blank=True)  # noqa: DJ001 - null is "no default"
    key_position = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        """Positions count from 1."""

        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="column_position"),
            models.UniqueConstraint(fields=["item", "name"], name="column_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.type}"


class Dependency(models.Model):
    """`item` cannot exist without `needs`."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="needs")
    needs = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="needed_by")

    class Meta:
        """Each pair once."""

        constraints = [models.UniqueConstraint(fields=["item", "needs"], name="dependency_pair")]

    def __str__(self) -> str:
        return f"{self.item} needs {self.needs}"
