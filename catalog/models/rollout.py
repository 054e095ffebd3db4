"""Regions beyond their catalog: where they are, whose, and in which cohort of a rollout."""

from __future__ import annotations

from django.db import models

from catalog.models.accounts import Account
from catalog.models.namespaces import Region


class Cohort(models.Model):
    """Regions that a migration reaches together.

    It runs by itself between `opens_at` and `closes_at` for the regions whose plan is approved,
    unless it is `paused`.
    """

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=32, default="sources to tables")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class RegionPlace(models.Model):
    """A region's cloud provider and place, its account, warehouse and default cluster.

    `warehouse` is empty for the installation's own. `next_builtin` is the number that the next
    built-in object's id gets; `release` the newest release that has served the region.
    """

    region = models.OneToOneField(
        Region, primary_key=True, on_delete=models.CASCADE, related_name="place"
    )
    account = models.ForeignKey(
        Account, null=True, blank=True, on_delete=models.SET_NULL, related_name="regions"
    )
    provider = models.CharField(max_length=63)
    place = models.CharField(max_length=63)
    warehouse = models.CharField(max_length=500, blank=True)
    cluster = models.CharField(max_length=255, default="quickstart")
    cohort = models.ForeignKey(
        Cohort, null=True, blank=True, on_delete=models.SET_NULL, related_name="places"
    )
    next_builtin = models.BigIntegerField(default=1)
    release = models.PositiveIntegerField(default=0)
    enabled_by = models.CharField(max_length=255, blank=True)

    class Meta:
        """One region per place."""

        constraints = [models.UniqueConstraint(fields=["provider", "place"], name="region_place")]

    def __str__(self) -> str:
        return f"{self.provider}/{self.place}"


class Announcement(models.Model):
    """What a cohort's people (all regions' without one) were told, and when it will happen."""

    cohort = models.ForeignKey(
        Cohort, null=True, blank=True, on_delete=models.CASCADE, related_name="announcements"
    )
    title = models.CharField(max_length=200)
    text = models.TextField()
    user = models.CharField(max_length=255)
    published_at = models.DateTimeField()
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.title


class FlagDefault(models.Model):
    """What a flag is set to in every region that is made from now on."""

    name = models.CharField(max_length=100, unique=True)
    value = models.CharField(max_length=500)

    def __str__(self) -> str:
        return f"{self.name}={self.value}"
