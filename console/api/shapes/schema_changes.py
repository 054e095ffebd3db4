"""Blue-green of a table whose upstream changed."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.api.shapes.migrations import EventSerializer


class NewSchemaChange(serializers.Serializer[Any]):
    """Which table to replace by a new one on the same reference."""

    table = serializers.CharField(help_text="the table's id")


class StepAsked(serializers.Serializer[Any]):
    """Another statement for the next step, where its own does not fit the new columns."""

    sql = serializers.CharField(required=False, default="", allow_blank=True, max_length=100_000)


class ChangeStepSerializer(serializers.Serializer[Any]):
    """One thing to do, or to wait for where it has no statements."""

    kind = serializers.CharField(
        help_text="table, snapshot, view, replacement, compare, apply or retire"
    )
    name = serializers.CharField()
    why = serializers.CharField()
    statements = serializers.ListField(child=serializers.CharField())
    done = serializers.BooleanField()
    waits = serializers.BooleanField()
    item = serializers.CharField(help_text="the id of what it is about")
    made = serializers.CharField(help_text="the id of what it made, when that is there")
    error = serializers.CharField(help_text="why what is waited for does not come")


class SchemaChangeSerializer(serializers.Serializer[Any]):
    """A switch to a new table, as it is now; `next` says what can be done."""

    id = serializers.CharField()
    region = serializers.CharField()
    table = serializers.CharField()
    name = serializers.CharField()
    state = serializers.CharField(help_text="open, done or given up")
    drift = serializers.ListField(child=serializers.CharField())
    user = serializers.CharField()
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField()
    hint = serializers.CharField()
    next = serializers.CharField()
    steps = ChangeStepSerializer(many=True)
    back = serializers.ListField(
        child=serializers.CharField(), help_text="the statements that give it up, as things are"
    )
    others = serializers.ListField(
        child=serializers.CharField(), help_text="views on the old table made since the beginning"
    )
    events = EventSerializer(many=True)
