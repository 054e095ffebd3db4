"""SQL over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class StrictText(serializers.CharField):
    """Text that arrived as text; other CharFields would take a number for one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        """The text, as it is."""
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class SqlQuery(serializers.Serializer[Any]):
    """One statement and its parameters."""

    query = StrictText(allow_blank=True)
    params = serializers.ListField(
        child=StrictText(allow_null=True, allow_blank=True), default=list
    )


class SqlSerializer(serializers.Serializer[Any]):
    """Either `query` or `queries`."""

    query = StrictText(required=False, allow_blank=True)
    queries = SqlQuery(many=True, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two."""
        if ("query" in attrs) == ("queries" in attrs):
            raise serializers.ValidationError("give either query or queries")
        return attrs


class NoticeSerializer(serializers.Serializer[Any]):
    """Something worth telling beside a success."""

    message = serializers.CharField()
    code = serializers.CharField()
    severity = serializers.CharField()
    detail = serializers.CharField(required=False)
    hint = serializers.CharField(required=False)


class ColumnDescription(serializers.Serializer[Any]):
    """A column of a result, in PostgreSQL's terms."""

    name = serializers.CharField()
    type_oid = serializers.IntegerField()
    type_len = serializers.IntegerField()
    type_mod = serializers.IntegerField()


class RowDescription(serializers.Serializer[Any]):
    """The columns of a result."""

    columns = ColumnDescription(many=True)


class ParameterSerializer(serializers.Serializer[Any]):
    """A session variable that changed."""

    name = serializers.CharField()
    value = serializers.CharField()


class CheckSerializer(serializers.Serializer[Any]):
    """One item of a validation: what was looked at and, if it failed, what to do."""

    name = serializers.CharField()
    level = serializers.CharField(help_text="ok, warning or error")
    summary = serializers.CharField()
    cause = serializers.CharField(required=False)
    fix = serializers.CharField(required=False)
    upstream_sql = serializers.CharField(required=False, help_text="To be run upstream.")


class ErrorSerializer(serializers.Serializer[Any]):
    """A failure, the same through every entrance."""

    message = serializers.CharField()
    code = serializers.CharField(help_text="SQLSTATE")
    severity = serializers.CharField(required=False)
    detail = serializers.CharField(required=False)
    hint = serializers.CharField(required=False)
    position = serializers.IntegerField(required=False)
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)
    checks = CheckSerializer(many=True, required=False)
    invalid = serializers.DictField(required=False, help_text="Reasons, by field.")


class Failure(serializers.Serializer[Any]):
    """The body of every response that is not a success."""

    error = ErrorSerializer()


class SqlResult(serializers.Serializer[Any]):
    """Rows (`tag`, `rows`, `desc`), a success without rows (`ok`), or the `error` at the end."""

    ok = serializers.CharField(required=False)
    tag = serializers.CharField(required=False)
    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.JSONField(allow_null=True)), required=False
    )
    desc = RowDescription(required=False)
    parameters = ParameterSerializer(many=True, required=False)
    error = ErrorSerializer(required=False)
    notices = NoticeSerializer(many=True)


class SqlResponse(serializers.Serializer[Any]):
    """The results, in order."""

    results = SqlResult(many=True)
