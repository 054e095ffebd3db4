"""What a client sends to make connections, sources, tables, secrets and views."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.sql.grammar.connection import POSTGRES_OPTIONS
from catalog.sql.grammar.source import GENERATOR_OPTIONS, GENERATORS
from console.api.shapes.items import ItemRef, Named
from console.api.shapes.sql import StrictText

_GENERATOR_NAMES = [name.lower() for name in GENERATORS]


class NewSecret(Named):
    """A secret; the value is encrypted and never comes back."""

    value = StrictText(write_only=True, allow_blank=True)


class SecretValue(serializers.Serializer[Any]):
    """A secret's new value."""

    value = StrictText(write_only=True, allow_blank=True)


class NewConnection(Named):
    """How to enter a PostgreSQL database."""

    type = serializers.ChoiceField(choices=["postgres"], default="postgres")
    host = StrictText()
    port = serializers.IntegerField(default=5432, min_value=1, max_value=65535)
    upstream_database = StrictText(help_text="The database there.")
    user = StrictText()
    password = ItemRef(required=False, help_text="The secret with the password.")
    ssl_mode = serializers.ChoiceField(
        choices=["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
        required=False,
    )
    ssl_certificate_authority = StrictText(required=False)
    ssl_certificate = StrictText(required=False)
    ssl_key = ItemRef(required=False, help_text="The secret with the client's key.")
    validate = serializers.BooleanField(  # type: ignore[assignment]
        default=True, help_text="Try the connection first, and refuse one that does not work."
    )


CONNECTION_OPTIONS = {
    name: {"DATABASE": "upstream_database"}.get(name, name.lower().replace(" ", "_"))
    for name in POSTGRES_OPTIONS
}
"""Which field gives which option of CREATE CONNECTION."""


class NewSource(Named):
    """A PostgreSQL publication, or a load generator."""

    type = serializers.ChoiceField(choices=["postgres", "load generator"])
    connection = ItemRef(required=False, help_text="For postgres.")
    publication = StrictText(required=False, help_text="For postgres.")
    generator = serializers.ChoiceField(
        choices=_GENERATOR_NAMES, required=False, help_text="For a load generator."
    )
    options = serializers.DictField(
        child=StrictText(), default=dict, help_text=f"Any of {', '.join(GENERATOR_OPTIONS)}."
    )
    cluster = StrictText(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Each type has fields of its own."""
        postgres = attrs["type"] == "postgres"
        for field in ("connection", "publication") if postgres else ("generator",):
            if field not in attrs:
                raise serializers.ValidationError({field: ["This field is required."]})
        for field in ("generator",) if postgres else ("connection", "publication"):
            if field in attrs:
                raise serializers.ValidationError({field: [f"Not for {attrs['type']}."]})
        unknown = set(attrs["options"]) - (set() if postgres else set(GENERATOR_OPTIONS))
        if unknown:
            message = f"unknown option {min(unknown)}"
            raise serializers.ValidationError({"options": [message]})
        return attrs


class UpstreamName(serializers.Serializer[Any]):
    """A reference, as the listing names it."""

    namespace = StrictText(default="", allow_blank=True)
    name = StrictText()


class NewTableFromSource(Named):
    """A table that follows one reference of a source."""

    source = ItemRef()  # type: ignore[assignment]
    reference = UpstreamName(required=False, help_text="Not needed where the source has just one.")
    columns = serializers.ListField(child=StrictText(), default=list, help_text="New names.")
    text_columns = serializers.ListField(child=StrictText(), default=list)
    exclude_columns = serializers.ListField(child=StrictText(), default=list)


@extend_schema_field(
    {"type": ["string", "number", "integer", "boolean", "null"], "description": "A constant."}
)
class Constant(serializers.Field[Any, Any, Any, Any]):
    """A JSON scalar."""

    def to_internal_value(self, data: Any) -> Any:
        """The value, if it is one."""
        if not isinstance(data, str | int | float | bool):
            raise serializers.ValidationError("must be a string, a number or a boolean")
        return data

    def to_representation(self, value: Any) -> Any:
        """The value."""
        return value


class NewColumn(serializers.Serializer[Any]):
    """A column of a plain table."""

    name = StrictText(max_length=255)
    type = StrictText(help_text="As PostgreSQL spells it, such as `numeric(12,2)`.")
    nullable = serializers.BooleanField(default=True)
    default = Constant(required=False, allow_null=True)
    primary_key = serializers.BooleanField(default=False)


class NewPlainTable(Named):
    """A table that is written by INSERT, UPDATE and DELETE."""

    columns = NewColumn(many=True, allow_empty=False)


class NewTables(serializers.Serializer[Any]):
    """Tables to make in one transaction: those of one source share one snapshot."""

    tables = NewTableFromSource(many=True, allow_empty=False)


class NewView(Named):
    """A query with a name."""

    query = StrictText(help_text="A SELECT.")
    columns = serializers.ListField(child=StrictText(), default=list)
