"""Connections to upstream systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.errors import UpstreamProblem
from catalog.results import Result, Rows
from catalog.sql.nodes.connection import CreateConnection, ValidateConnection
from catalog.sql.nodes.names import Option, SecretReference
from catalog.sql.render import render
from console.api import examples
from console.api.failures import error_body
from console.api.lists import documented, listing, page
from console.api.shapes.items import (
    Removal,
    Renamed,
    Written,
    find,
    name_of,
    new_name,
    referred,
)
from console.api.shapes.resources import ConnectionSerializer, Validation, WrittenConnection
from console.api.shapes.writes import CONNECTION_OPTIONS, NewConnection
from console.api.statements import drop, made, rename, write
from console.execute import run
from ingest.errors import HeadraceError


class Connections(viewsets.ViewSet):
    """Where upstream systems are and how to enter them."""

    lookup_value_regex = "u[0-9]+"

    @listing(ConnectionSerializer, "connections", operation_id="listConnections")
    def list(self, request: Request) -> Response:
        """All connections."""
        return page(request, reads.connections(), ConnectionSerializer, lambda row: row.name)

    @documented(ConnectionSerializer, "connections", operation_id="getConnection")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One connection."""
        return Response(ConnectionSerializer(find(pk, "connection")).data)

    @documented(
        WrittenConnection,
        "connections",
        status=201,
        request=NewConnection,
        operation_id="createConnection",
        examples=examples.CONNECTION,
    )
    def create(self, request: Request) -> Response:
        """Try a connection and keep it: CREATE CONNECTION."""
        shape = NewConnection(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        name = new_name(body)
        statement = CreateConnection(
            name,
            body["type"],
            tuple(_options(body)),
            if_not_exists=body["if_not_exists"],
            validate=None if body["validate"] else False,
        )
        written = write(request.user, statement)
        item = find(made(name.parts, reads.connections()), "connection")
        return Response(written | {"item": ConnectionSerializer(item).data}, 201)

    @documented(Written, "connections", request=Renamed, operation_id="renameConnection")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER CONNECTION .. RENAME TO."""
        return Response(rename(request.user, pk, "connection", request.data))

    @documented(Written, "connections", parameters=[Removal], operation_id="dropConnection")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it: DROP CONNECTION."""
        return Response(drop(request.user, pk, "connection", request.query_params))

    @documented(Validation, "connections", request=None, operation_id="validateConnection")
    @action(detail=True, methods=["post"])
    def validate(self, request: Request, pk: str) -> Response:
        """Try it now, item by item: VALIDATE CONNECTION."""
        statement = ValidateConnection(name_of(find(pk, "connection")))
        outcome = run(cast("Any", request.user), render(statement))[-1]
        if isinstance(outcome, UpstreamProblem) and outcome.checks:
            return Response({"ok": False, "checks": error_body(outcome).get("checks", [])})
        if isinstance(outcome, HeadraceError):
            raise outcome
        checks = _checks(outcome)
        ok = all(check["level"] != "error" for check in checks)
        return Response({"ok": ok, "checks": checks})


def _options(body: dict[str, Any]) -> Iterator[Option]:
    for name, field in CONNECTION_OPTIONS.items():
        value = body.get(field)
        if isinstance(value, dict):
            yield Option(name, SecretReference(referred(value, "secret")))
        elif value is not None:
            yield Option(name, str(value))


def _checks(outcome: Result) -> list[dict[str, str]]:
    """The rows of VALIDATE CONNECTION as the checks that errors have too."""
    rows = outcome.data.to_pylist() if isinstance(outcome, Rows) else []
    return [
        {"name" if name == "check" else name: value for name, value in row.items() if value}
        for row in rows
    ]
