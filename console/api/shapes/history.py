"""What happened."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class AuditSerializer(serializers.Serializer[Any]):
    """One state transition of the catalog."""

    id = serializers.IntegerField()
    event = serializers.CharField(help_text="create, drop, alter, grant, revoke or comment")
    object_type = serializers.CharField()
    details = serializers.DictField()
    user = serializers.CharField()
    occurred_at = serializers.DateTimeField()


class StatusChangeSerializer(serializers.Serializer[Any]):
    """One change of a source's or a table's status."""

    id = serializers.CharField()
    status = serializers.CharField()
    error = serializers.CharField()
    detail = serializers.CharField()
    hint = serializers.CharField()
    changed_at = serializers.DateTimeField()
