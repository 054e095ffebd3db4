"""What all items share: how they are shown, named and referred to, and what a write returns."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from catalog import reads
from catalog.errors import UnknownItem
from catalog.names import DATABASE, SCHEMA
from catalog.sql.nodes.names import Name
from console.api.shapes.sql import NoticeSerializer, StrictText


class ItemSerializer(serializers.Serializer[Any]):
    """Any object with a name. `id` is stable: it survives renames and is never reused."""

    id = serializers.CharField()
    kind = serializers.CharField(help_text="secret, connection, source, table or view")
    database = serializers.CharField()
    schema = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField()
    created_at = serializers.DateTimeField()
    sql = serializers.CharField(
        source="redacted_sql", help_text="The canonical statement, without secrets."
    )


class StatusSerializer(serializers.Serializer[Any]):
    """The newest status; stalled waits for something that may come back, failed does not."""

    status = serializers.CharField()
    error = serializers.CharField()
    detail = serializers.CharField()
    hint = serializers.CharField()
    changed_at = serializers.DateTimeField()


class Named(serializers.Serializer[Any]):
    """The name of something new."""

    name = StrictText(max_length=255)
    database = StrictText(default=DATABASE, max_length=255)
    schema = StrictText(default=SCHEMA, max_length=255)
    if_not_exists = serializers.BooleanField(default=False)


class ItemRef(serializers.Serializer[Any]):
    """An item that is there already: by `id`, or by `name` with `database` and `schema`."""

    id = StrictText(required=False, max_length=32)
    name = StrictText(required=False, max_length=255)
    database = StrictText(default=DATABASE, max_length=255)
    schema = StrictText(default=SCHEMA, max_length=255)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Either way of naming, not both."""
        if ("id" in attrs) == ("name" in attrs):
            raise serializers.ValidationError("give either id or name")
        return attrs


class Renamed(serializers.Serializer[Any]):
    """A new name in the same schema."""

    name = StrictText(max_length=255)


class Removal(serializers.Serializer[Any]):
    """How to drop."""

    cascade = serializers.BooleanField(default=False, help_text="Drop what depends on it, too.")
    if_exists = serializers.BooleanField(default=False, help_text="No error when it is gone.")


class Paging(serializers.Serializer[Any]):
    """Which part of a list."""

    search = serializers.CharField(default="", allow_blank=True, help_text="In names.")
    limit = serializers.IntegerField(default=100, min_value=1, max_value=1000)
    offset = serializers.IntegerField(default=0, min_value=0)


class Written(serializers.Serializer[Any]):
    """The statement that a write rendered and ran. `sql` hides secrets' values."""

    sql = serializers.CharField()
    tag = serializers.CharField()
    notices = NoticeSerializer(many=True)


def new_name(named: dict[str, Any]) -> Name:
    """The fully qualified name in a validated `Named`."""
    return Name((named["database"], named["schema"], named["name"]))


def name_of(item: reads.ItemRow) -> Name:
    """The fully qualified name of an item."""
    return Name((item.database, item.schema, item.name))


def find(item_id: str, kind: str) -> reads.ItemRow:
    """The item with that id. Raises UnknownItem when there is none, or it is of another kind."""
    found = reads.item(item_id)
    if found is None or found.kind != kind:
        message = f'unknown {kind} "{item_id}"'
        raise UnknownItem(message)
    return found


def referred(reference: dict[str, Any], kind: str) -> Name:
    """The name behind a validated `ItemRef`. Raises UnknownItem for an id that is not there."""
    return name_of(find(reference["id"], kind)) if "id" in reference else new_name(reference)
