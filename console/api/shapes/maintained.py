"""Materialized views, their versions, lineage and replacements: what is shown and what is sent."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.api.shapes.items import ItemRef, ItemSerializer, Named, StatusSerializer, Written
from console.api.shapes.resources import ColumnSerializer
from console.api.shapes.sql import RowDescription, StrictText


class StagedSerializer(serializers.Serializer[Any]):
    """What applying a replacement would change, at one time."""

    added = serializers.IntegerField(help_text="Rows.")
    removed = serializers.IntegerField()
    changed = serializers.IntegerField(help_text="Rows whose key stays; 0 where no key is known.")
    bytes = serializers.IntegerField(help_text="Of those rows as JSON text.")
    as_of = serializers.IntegerField(help_text="mz_timestamp, milliseconds")


class GuardSerializer(serializers.Serializer[Any]):
    """When a replacement is applied by itself: once it is hydrated, within these limits."""

    automatic = serializers.BooleanField(help_text="Otherwise a person applies it.")
    max_rows = serializers.IntegerField(allow_null=True, help_text="That may change.")
    max_percent = serializers.FloatField(allow_null=True, help_text="Of the target's rows.")
    window = serializers.CharField(allow_null=True, help_text="`HH:MM-HH:MM`, UTC.")


class MaterializedViewSerializer(serializers.Serializer[Any]):
    """A query whose rows are kept. Times are mz_timestamps in milliseconds, 0 not yet."""

    item = ItemSerializer()
    cluster = serializers.CharField()
    columns = ColumnSerializer(many=True)
    key = serializers.ListField(
        child=serializers.CharField(), help_text="Columns that no two rows share, if known."
    )
    status = StatusSerializer()
    hydrated = serializers.BooleanField(help_text="Its rows have been computed once.")
    percent = serializers.IntegerField(help_text="Of the hydration.")
    rate = serializers.FloatField(help_text="Rows a second, of the hydration.")
    cancelled = serializers.BooleanField(help_text="The hydration was stopped by a person.")
    sealed = serializers.BooleanField(help_text="Nothing that it reads can change.")
    readable_from = serializers.IntegerField()
    complete_through = serializers.IntegerField()
    rows = serializers.IntegerField(help_text="-1 unknown")
    bytes = serializers.IntegerField(help_text="-1 unknown")
    how = serializers.CharField(help_text="How its last step was made: incremental or recompute.")
    reason = serializers.CharField(help_text="Why not incrementally, if so.")
    options = serializers.DictField(child=serializers.CharField())


class ReplacementSerializer(MaterializedViewSerializer):
    """Another definition of a view, computed beside it until it is applied or dropped."""

    target = ItemSerializer()
    staged = StagedSerializer(allow_null=True)
    guard = GuardSerializer()


class VersionSerializer(serializers.Serializer[Any]):
    """A definition that a view has or had, in force from `since` to `until` (ms, 0 still)."""

    number = serializers.IntegerField()
    since = serializers.IntegerField()
    until = serializers.IntegerField()
    sql = serializers.CharField(source="create_sql")
    columns = ColumnSerializer(many=True)
    event = serializers.CharField(help_text="created, applied or undone")
    replacement = serializers.CharField(help_text="Id of the replacement that it came from.")
    replacement_name = serializers.CharField()
    user = serializers.CharField()
    made_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    undo = serializers.BooleanField(help_text="A rollback brings this one back.")


class LineageItemSerializer(serializers.Serializer[Any]):
    """An item of the graph; `distance` is negative upstream, positive downstream."""

    item = ItemSerializer()
    columns = serializers.ListField(child=serializers.CharField())
    distance = serializers.IntegerField()
    target = serializers.CharField(help_text="Of a replacement: the id of the view it is for.")
    traced = serializers.BooleanField(help_text="Whether its columns' origins are known.")


class LineageEdge(serializers.Serializer[Any]):
    """Ids: `reads` is read by `item`."""

    reads = serializers.CharField()
    item = serializers.CharField()


class ColumnEdgeSerializer(serializers.Serializer[Any]):
    """A column that a value of another column is made from; items by id."""

    item = serializers.CharField()
    column = serializers.CharField()
    into = serializers.CharField()
    into_column = serializers.CharField()


class LineageSerializer(serializers.Serializer[Any]):
    """Where rows and values come from, and where they go."""

    items = LineageItemSerializer(many=True)
    edges = LineageEdge(many=True)
    columns = ColumnEdgeSerializer(many=True)


class ChangedRows(serializers.Serializer[Any]):
    """Rows that an apply would change: `mz_diff` first, 1 for one that comes, -1 for one that
    goes; then the columns, as in the SQL resource."""

    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.JSONField(allow_null=True))
    )
    desc = RowDescription()
    timestamp = serializers.IntegerField(allow_null=True, help_text="They are true at it.")


class ImpactSerializer(serializers.Serializer[Any]):
    """How many rows of a view above the target would change."""

    id = serializers.CharField(source="item.id")
    name = serializers.CharField(source="item.name")
    kind = serializers.CharField(source="item.kind")
    through = serializers.CharField(help_text="What it reads the target through.")
    counted = serializers.BooleanField(help_text="False for a plain view: it keeps no rows.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()


class ImpactList(serializers.Serializer[Any]):
    """All of them, counted at one time."""

    items = ImpactSerializer(many=True)


class ChangesLimit(serializers.Serializer[Any]):
    """How many rows to read."""

    limit = serializers.IntegerField(default=200, min_value=1, max_value=10_000)


class NewMaterializedView(Named):
    """A query whose rows are kept."""

    query = StrictText(help_text="A SELECT.")
    columns = serializers.ListField(child=StrictText(), default=list, help_text="New names.")
    cluster = StrictText(required=False)
    refresh_every = StrictText(required=False, help_text="An interval such as `5 minutes`.")
    retain_history = StrictText(required=False, help_text="An interval such as `7 days`.")


class GuardFields(serializers.Serializer[Any]):
    """Guard rails. Those left out do not limit anything."""

    automatic = serializers.BooleanField(default=False, help_text="Apply it when hydrated.")
    max_rows = serializers.IntegerField(required=False, min_value=0)
    max_percent = serializers.FloatField(required=False, min_value=0)
    window = serializers.RegexField(r"^\d{1,2}:\d{2}-\d{1,2}:\d{2}$", required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A limit limits what happens by itself."""
        limits = [name for name in ("max_rows", "max_percent", "window") if name in attrs]
        if limits and not attrs["automatic"]:
            raise serializers.ValidationError({limits[0]: ["Not without automatic."]})
        return attrs


class NewReplacement(Named):
    """Another definition for a view that is there."""

    target = ItemRef()
    query = StrictText(help_text="A SELECT with the target's columns; more may follow them.")
    columns = serializers.ListField(child=StrictText(), default=list, help_text="New names.")
    cluster = StrictText(required=False)
    guard = GuardFields(required=False)


class WrittenMaterializedView(Written):
    """The statement, and the view it made."""

    item = MaterializedViewSerializer()


class WrittenReplacement(Written):
    """The statement, and the replacement it made or changed."""

    item = ReplacementSerializer()


class HydrationDone(serializers.Serializer[Any]):
    """Whether there was a hydration to stop or to let go on."""

    done = serializers.BooleanField()
