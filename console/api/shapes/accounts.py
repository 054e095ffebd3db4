"""Users and their tokens."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class MeSerializer(serializers.Serializer[Any]):
    """Who is calling."""

    email = serializers.EmailField()
    role = serializers.CharField(help_text="The role that owns what this user makes.")
    owner = serializers.BooleanField(help_text="May do everything in the region.")


class NewToken(serializers.Serializer[Any]):
    """A name to tell tokens apart."""

    name = serializers.CharField(max_length=200)


class TokenSerializer(serializers.Serializer[Any]):
    """A personal token, without its secret."""

    client_id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)


class IssuedTokenSerializer(serializers.Serializer[Any]):
    """A new token; its secret is never shown again."""

    token = TokenSerializer()
    secret = serializers.UUIDField()
    app_password = serializers.CharField(help_text="Both in one word, for password fields.")
