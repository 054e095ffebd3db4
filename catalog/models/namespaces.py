"""Region > database > schema, and the roles that own what is in them."""

from __future__ import annotations

import uuid

from django.db import models


class Region(models.Model):
    """One catalog of its own: `provider/region`, with the counters that ids and times come from.

    `revision` grows by one with every catalog transaction; `stamp` changes with each, so that a
    restored database is not taken for another. `oracle_time` (ms) is the newest timestamp that was
    handed out, `read_time` the newest that a strict serializable read was answered at;
    `installation` tells this region's slots from anybody else's.
    """

    name = models.CharField(max_length=200, unique=True)
    installation = models.UUIDField(default=uuid.uuid4, editable=False)
    revision = models.BigIntegerField(default=0)
    stamp = models.UUIDField(default=uuid.uuid4, editable=False)
    oracle_time = models.BigIntegerField(default=0)
    read_time = models.BigIntegerField(default=0)
    next_item = models.BigIntegerField(default=1)
    next_feed = models.BigIntegerField(default=1)
    next_namespace = models.BigIntegerField(default=1)
    next_oid = models.BigIntegerField(default=20_000)
    next_audit = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Role(models.Model):
    """Who owns items; named like the user it stands for (e-mail)."""

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="roles")
    gid = models.CharField(max_length=32)
    oid = models.BigIntegerField()
    name = models.CharField(max_length=255)
    superuser = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Names and ids are unique in a region."""

        constraints = [
            models.UniqueConstraint(fields=["region", "name"], name="role_name"),
            models.UniqueConstraint(fields=["region", "gid"], name="role_gid"),
        ]

    def __str__(self) -> str:
        return self.name


class Database(models.Model):
    """A namespace of schemas."""

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="databases")
    gid = models.CharField(max_length=32)
    oid = models.BigIntegerField()
    name = models.CharField(max_length=255)
    owner = models.ForeignKey(Role, on_delete=models.PROTECT, related_name="databases")

    class Meta:
        """Names and ids are unique in a region."""

        constraints = [
            models.UniqueConstraint(fields=["region", "name"], name="database_name"),
            models.UniqueConstraint(fields=["region", "gid"], name="database_gid"),
        ]

    def __str__(self) -> str:
        return self.name


class Schema(models.Model):
    """A namespace of items."""

    database = models.ForeignKey(Database, on_delete=models.CASCADE, related_name="schemas")
    gid = models.CharField(max_length=32)
    oid = models.BigIntegerField()
    name = models.CharField(max_length=255)
    owner = models.ForeignKey(Role, on_delete=models.PROTECT, related_name="schemas")

    class Meta:
        """Names are unique in a database."""

        constraints = [
            models.UniqueConstraint(fields=["database", "name"], name="schema_name"),
            models.UniqueConstraint(fields=["database", "gid"], name="schema_gid"),
        ]

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


class FeatureFlag(models.Model):
    """A region's switch or system variable, as text; absent means its default."""

    region = models.ForeignKey(Region, on_delete=models.CASCADE, related_name="flags")
    name = models.CharField(max_length=100)
    value = models.CharField(max_length=500)

    class Meta:
        """One value per flag and region."""

        constraints = [models.UniqueConstraint(fields=["region", "name"], name="flag_name")]

    def __str__(self) -> str:
        return f"{self.name}={self.value}"
