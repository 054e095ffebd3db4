"""SQL over HTTP: `POST /api/sql`, and the seed's `POST /query`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from catalog.results import Done, Result
from catalog.sql.nodes.session import SetVariable
from catalog.sql.parse import parse_one
from catalog.sql.render import render
from console.api import examples
from console.api.failures import error_body
from console.api.parsers import BoundedJSON, BoundedText
from console.api.shapes.sql import SqlResponse, SqlResult, SqlSerializer
from console.execute import UserSession, open_session
from console.values import describe, json_rows, notice_body
from ingest.errors import HeadraceError

Batch = tuple[str, tuple[str | None, ...], bool]
"""A text, its parameters, and whether it must be one statement."""


class SqlView(APIView):
    """Runs statements in a session of their own, until the first error."""

    throttle_scope = "sql"
    parser_classes = (BoundedJSON,)

    @extend_schema(
        operation_id="sql",
        tags=["sql"],
        request=SqlSerializer,
        responses=SqlResponse,
        examples=examples.SQL,
        parameters=[
            OpenApiParameter("options", str, description="Session variables, as a JSON object."),
            OpenApiParameter("region", str, description="Such as aws/us-east-1."),
        ],
    )
    def post(self, request: Request) -> Response:
        """Run `query` (any number of statements) or `queries` (one each, with parameters).

        A statement's error is part of the results, which it ends; the status stays 200.
        """
        batches = list(_batches(request.data))
        settings = _settings(request.query_params.get("options"))
        session = _session(request)
        return Response({"results": _run(session, settings, batches)})


class QueryView(APIView):
    """The same door for a bare text of statements."""

    throttle_scope = "sql"
    parser_classes = (BoundedText, BoundedJSON)

    @extend_schema(
        operation_id="query",
        tags=["sql"],
        request={"text/plain": OpenApiTypes.STR, "application/json": SqlSerializer},
        responses=SqlResult(many=True),
        examples=[
            OpenApiExample("A text", value="SELECT 1", media_type="text/plain", request_only=True)
        ],
    )
    def post(self, request: Request) -> Response:
        """Run the statements in the body: plain text, a JSON string, or `{"query": ..}`."""
        body: Any = request.data
        batches = list(_batches({"query": body} if isinstance(body, str) else body))
        session = _session(request)
        return Response(_run(session, (), batches))


def _session(request: Request) -> UserSession:
    """A session in the region that is asked for; raises UnknownItem."""
    user: Any = request.user
    return open_session(user, request.query_params.get("region", ""))


def _batches(body: Any) -> Iterator[Batch]:
    """What a body asks for. Raises ValidationError for a body of any other shape."""
    shape = SqlSerializer(data=body)
    shape.is_valid(raise_exception=True)
    if "query" in shape.validated_data:
        yield shape.validated_data["query"], (), False
    for query in shape.validated_data.get("queries", ()):
        yield query["query"], tuple(query.get("params", ())), True


def _settings(options: str | None) -> tuple[str, ...]:
    """`SET name = value` for every session variable in the options."""
    if not options:
        return ()
    try:
        variables = json.loads(options)
    except ValueError:
        variables = None
    if not isinstance(variables, dict) or not all(isinstance(v, str) for v in variables.values()):
        raise ValidationError({"options": ["must be a JSON object of strings"]})
    return tuple(render(SetVariable(name, value)) for name, value in variables.items())


def _run(
    session: UserSession, settings: tuple[str, ...], batches: list[Batch]
) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    text = None
    try:
        for statement in settings:
            list(session.execute(statement))
        for text, parameters, single in batches:
            if single:
                parse_one(text)
            for result in session.execute(text, parameters):
                results.append(result_body(result))
    except HeadraceError as error:
        results.append({"error": error_body(error, text), "notices": []})
    return results


def result_body(result: Result) -> dict[str, Any]:
    """One statement's success as JSON."""
    notices = [notice_body(notice) for notice in result.notices]
    if not isinstance(result, Done):
        rows = json_rows(result.relation, result.data)
        desc = describe(result.relation)
        return {"tag": result.tag, "rows": rows, "desc": desc, "notices": notices}
    body: dict[str, Any] = {"ok": result.tag, "notices": notices}
    if result.parameters:
        body["parameters"] = [{"name": name, "value": value} for name, value in result.parameters]
    return body
