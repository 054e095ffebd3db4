"""Webhooks as they are shown and made."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.api.shapes.items import Named, Written
from console.api.shapes.resources import TableSerializer
from console.api.shapes.sql import StrictText


class DeliverySerializer(serializers.Serializer[Any]):
    """One request that came."""

    at = serializers.DateTimeField()
    status = serializers.IntegerField(help_text="The HTTP status that it got.")
    bytes = serializers.IntegerField()
    rows = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why it was refused; empty when it was not.")


class WebhookSerializer(serializers.Serializer[Any]):
    """A table that HTTP requests fill."""

    table = TableSerializer()
    url = serializers.CharField(help_text="Where requests are sent to, with POST.")
    body_format = serializers.CharField(help_text="text, json, json array or bytes")
    checked = serializers.BooleanField(help_text="Whether requests must pass a CHECK.")
    sample = serializers.CharField(help_text="Commands for a shell that send a request.")
    deliveries = DeliverySerializer(many=True, help_text="The newest; empty in lists.")


class NewHeader(serializers.Serializer[Any]):
    """A header with a column of its own."""

    header = StrictText(max_length=255)
    name = StrictText(max_length=255)
    as_bytes = serializers.BooleanField(default=False)


class NewWebhook(Named):
    """A webhook. Without a `check` everybody who knows the URL can send requests."""

    body_format = serializers.ChoiceField(choices=["text", "json", "json array", "bytes"])
    headers = serializers.ListField(
        child=StrictText(max_length=255),
        required=False,
        help_text="Headers to keep as jsonb; an empty list is all, `!name` is all but that.",
    )
    columns = NewHeader(many=True, default=list)
    check = StrictText(
        required=False,
        help_text="What stands between CHECK's parentheses: WITH (HEADERS, BODY, SECRET s) ..",
    )


class WrittenWebhook(Written):
    """The statement, and the webhook it made."""

    item = WebhookSerializer()
