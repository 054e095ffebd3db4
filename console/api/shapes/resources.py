"""Connections, sources, references, tables, secrets and views as they are shown."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.api.shapes.items import ItemSerializer, StatusSerializer, Written
from console.api.shapes.sql import CheckSerializer


class ConnectionSerializer(ItemSerializer):
    """Where an upstream system is and how to enter it."""


class SecretSerializer(ItemSerializer):
    """A secret; its value is never shown."""


class ViewSerializer(ItemSerializer):
    """A query with a name."""


class FeedSerializer(serializers.Serializer[Any]):
    """The one consumer behind every source on the same upstream.

    `upto` is the upstream position that is durable here, `upstream` the newest one there.
    """

    id = serializers.CharField()
    slot = serializers.CharField(help_text="Replication slot upstream, if one is needed.")
    status = serializers.CharField()
    complete_through = serializers.IntegerField(help_text="mz_timestamp, milliseconds")
    upto = serializers.IntegerField()
    upstream = serializers.IntegerField()
    retained_bytes = serializers.IntegerField(help_text="WAL kept upstream for us; -1 unknown")
    messages = serializers.IntegerField()
    bytes = serializers.IntegerField()
    sources = serializers.ListField(child=serializers.CharField())
    reported_at = serializers.DateTimeField(allow_null=True)


class SourceSerializer(serializers.Serializer[Any]):
    """An upstream whose references can be made into tables."""

    item = ItemSerializer()
    type = serializers.CharField()
    connection = ItemSerializer(allow_null=True)
    publication = serializers.CharField()
    status = StatusSerializer()
    tables = serializers.IntegerField(help_text="How many tables it fills.")
    references = serializers.IntegerField(help_text="How many references it has.")
    references_updated_at = serializers.DateTimeField(allow_null=True)
    feed = FeedSerializer(allow_null=True)


class ColumnSerializer(serializers.Serializer[Any]):
    """One column here."""

    name = serializers.CharField()
    type = serializers.CharField()
    nullable = serializers.BooleanField()
    position = serializers.IntegerField()


class TableSerializer(serializers.Serializer[Any]):
    """A table; `source` is null for one that is written by INSERT."""

    item = ItemSerializer()
    source = ItemSerializer(allow_null=True)  # type: ignore[assignment]
    namespace = serializers.CharField(help_text="Of the reference upstream.")
    reference = serializers.CharField()
    columns = ColumnSerializer(many=True)
    status = StatusSerializer()
    phase = serializers.CharField(help_text="validate, slot, snapshot, catch up or running")
    rows_known = serializers.IntegerField(help_text="In the snapshot; -1 unknown")
    rows_staged = serializers.IntegerField()
    bytes_staged = serializers.IntegerField()
    updates_committed = serializers.IntegerField()
    quarantined = serializers.IntegerField()
    readable_from = serializers.IntegerField(help_text="mz_timestamp; 0 before the snapshot")
    drift = serializers.ListField(child=serializers.CharField())


class ReferenceColumnSerializer(serializers.Serializer[Any]):
    """One column upstream; `native` is empty where it must be TEXT or excluded."""

    name = serializers.CharField()
    position = serializers.IntegerField()
    type = serializers.CharField()
    nullable = serializers.BooleanField()
    native = serializers.CharField()
    text_by_default = serializers.BooleanField()
    in_key = serializers.BooleanField()


class ReferenceSerializer(serializers.Serializer[Any]):
    """One upstream table that a table can be made from."""

    namespace = serializers.CharField()
    name = serializers.CharField()
    identity = serializers.IntegerField()
    columns = ReferenceColumnSerializer(many=True)
    key = serializers.ListField(child=serializers.CharField())
    replica_identity = serializers.CharField()
    rows = serializers.IntegerField(help_text="Estimate; -1 unknown")
    bytes = serializers.IntegerField(help_text="Estimate; -1 unknown")
    new = serializers.BooleanField(help_text="Not in the listing before this one.")
    problems = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))


class ProgressTable(serializers.Serializer[Any]):
    """How far one table is."""

    id = serializers.CharField(source="item.id")
    name = serializers.CharField(source="item.name")
    status = StatusSerializer()
    phase = serializers.CharField()
    rows_known = serializers.IntegerField()
    rows_staged = serializers.IntegerField()
    bytes_staged = serializers.IntegerField()
    updates_committed = serializers.IntegerField()
    quarantined = serializers.IntegerField()
    readable_from = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    """How far a source, its feed and its tables are."""

    status = StatusSerializer()
    feed = FeedSerializer(allow_null=True)
    tables = ProgressTable(many=True)


class WrittenConnection(Written):
    """The statement, and the connection it made."""

    item = ConnectionSerializer()


class WrittenSource(Written):
    """The statement, and the source it made."""

    item = SourceSerializer()


class WrittenTable(Written):
    """The statement, and the table it made."""

    item = TableSerializer()


class WrittenTables(serializers.Serializer[Any]):
    """One transaction, and the tables it made, all from one upstream snapshot."""

    sql = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    items = TableSerializer(many=True)


class WrittenSecret(Written):
    """The statement without the value, and the secret it made."""

    item = SecretSerializer()


class WrittenView(Written):
    """The statement, and the view it made."""

    item = ViewSerializer()


class Validation(serializers.Serializer[Any]):
    """Whether a connection works, item by item."""

    ok = serializers.BooleanField()
    checks = CheckSerializer(many=True)
