"""Migrations, regions and rollouts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from catalog.migrate.plan import KINDS


class NewMigration(serializers.Serializer[Any]):
    """What to plan, and for which region."""

    kind = serializers.ChoiceField(choices=[KINDS[0]])
    region = serializers.CharField(required=False, default="")


class InRegion(serializers.Serializer[Any]):
    """Which region is meant; the one that the request is about by default."""

    region = serializers.CharField(required=False, default="")


class StepsAsked(InRegion):
    """Which steps of a migration to show."""

    offset = serializers.IntegerField(required=False, default=0, min_value=0)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=1000)
    search = serializers.CharField(required=False, default="", allow_blank=True)


class BlockerSerializer(serializers.Serializer[Any]):
    """Why a plan cannot be applied, and what to do about it."""

    item = serializers.CharField()
    name = serializers.CharField()
    problem = serializers.CharField()
    remedy = serializers.CharField()


class MigrationSerializer(serializers.Serializer[Any]):
    """A migration; `next` says what can be done now."""

    id = serializers.CharField()
    region = serializers.CharField()
    kind = serializers.CharField()
    state = serializers.CharField(
        help_text="planned, approved, paused, applying, applied, rolling back, rolled back or"
        " superseded"
    )
    revision = serializers.IntegerField(help_text="of the catalog that it was planned for")
    summary = serializers.DictField(
        help_text="steps, actions, ids, dependents, feeds, bytes, seconds, blockers and notes"
    )
    user = serializers.CharField()
    planned_at = serializers.DateTimeField()
    approved_by = serializers.CharField()
    approved_at = serializers.DateTimeField(allow_null=True)
    applied_at = serializers.DateTimeField(allow_null=True)
    rolled_back_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="until when it can be rolled back"
    )
    pause = serializers.IntegerField(help_text="ms that statements that write had to wait")
    attempts = serializers.IntegerField()
    error = serializers.CharField()
    hint = serializers.CharField()
    next = serializers.CharField()


class StepSerializer(serializers.Serializer[Any]):
    """One object's part of a migration."""

    number = serializers.IntegerField()
    action = serializers.CharField()
    item = serializers.CharField()
    new_item = serializers.CharField()
    kind = serializers.CharField()
    new_kind = serializers.CharField()
    name = serializers.CharField()
    new_name = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    why = serializers.CharField()
    feed = serializers.CharField()
    bytes = serializers.IntegerField()


class EventSerializer(serializers.Serializer[Any]):
    """Something that happened to a migration."""

    at = serializers.DateTimeField()
    user = serializers.CharField()
    event = serializers.CharField()
    text = serializers.CharField()


class MigrationDetailSerializer(serializers.Serializer[Any]):
    """A migration, a page of its steps, and its history."""

    row = MigrationSerializer()
    steps = StepSerializer(many=True)
    total = serializers.IntegerField()
    offset = serializers.IntegerField()
    events = EventSerializer(many=True)


class FlagSerializer(serializers.Serializer[Any]):
    """A flag in a region."""

    name = serializers.CharField()
    value = serializers.CharField()
    own = serializers.BooleanField(help_text="whether the region says so itself")


class FormProgressSerializer(serializers.Serializer[Any]):
    """What of a region is still in the old form."""

    single_output = serializers.IntegerField()
    multi_output = serializers.IntegerField()
    subsources = serializers.IntegerField()
    webhooks = serializers.IntegerField()
    left = serializers.IntegerField()


class RegionSerializer(serializers.Serializer[Any]):
    """A region with its place in a rollout."""

    name = serializers.CharField()
    provider = serializers.CharField()
    place = serializers.CharField()
    warehouse = serializers.CharField()
    cluster = serializers.CharField()
    cohort = serializers.CharField()
    revision = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    flags = FlagSerializer(many=True)
    progress = FormProgressSerializer()
    migration = serializers.CharField()
    state = serializers.CharField()


class FlagChangeSerializer(serializers.Serializer[Any]):
    """A change of a flag; null stands for the default."""

    name = serializers.CharField()
    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(allow_null=True)
    user = serializers.CharField()
    at = serializers.DateTimeField()


class NewRegion(serializers.Serializer[Any]):
    """What a new region may be given."""

    warehouse = serializers.CharField(required=False, default="", allow_blank=True)


class FlagDefaultSerializer(serializers.Serializer[Any]):
    """What a flag is in regions made from now on; null takes the release's own default."""

    name = serializers.CharField()
    value = serializers.ChoiceField(choices=["on", "off"], allow_null=True)
    pin = serializers.BooleanField(
        default=True, help_text="whether regions that say nothing keep what they have now"
    )


class CohortSerializer(serializers.Serializer[Any]):
    """Regions that a migration reaches together, and when."""

    name = serializers.CharField(max_length=100)
    kind = serializers.CharField(read_only=True)
    regions = serializers.ListField(child=serializers.CharField())
    opens_at = serializers.DateTimeField(allow_null=True, required=False, default=None)
    closes_at = serializers.DateTimeField(allow_null=True, required=False, default=None)
    paused = serializers.BooleanField(required=False, default=False)


class NewAnnouncement(serializers.Serializer[Any]):
    """What to tell a cohort's people; everybody without a cohort."""

    title = serializers.CharField(max_length=200)
    text = serializers.CharField(max_length=20_000)
    cohort = serializers.CharField(required=False, default="", allow_blank=True)


class AnnouncementSerializer(NewAnnouncement):
    """What was told."""

    user = serializers.CharField()
    published_at = serializers.DateTimeField()
    opens_at = serializers.DateTimeField(allow_null=True)
    closes_at = serializers.DateTimeField(allow_null=True)
