"""Blue-green of an upstream schema change, step by step; for owners."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.here import region_here
from catalog.migrate.schema_change import store
from catalog.migrate.schema_change.script import script
from console import execute
from console.api.lists import documented, listing, page
from console.api.migrations import owner
from console.api.shapes.schema_changes import NewSchemaChange, SchemaChangeSerializer, StepAsked
from console.fragments.attachment import attachment

_TAG = "schema changes"


class SchemaChanges(viewsets.ViewSet):
    """Tables that are replaced by new ones on the same reference."""

    lookup_value_regex = "c[0-9]+"

    @listing(SchemaChangeSerializer, _TAG, operation_id="listSchemaChanges")
    def list(self, request: Request) -> Response:
        """A region's switches, the newest first."""
        owner(request)
        rows = store.changes(region_here())
        return page(request, rows, SchemaChangeSerializer, lambda row: f"{row.id} {row.name}")

    @documented(
        SchemaChangeSerializer,
        _TAG,
        status=201,
        request=NewSchemaChange,
        operation_id="beginSchemaChange",
    )
    def create(self, request: Request) -> Response:
        """Begin a table's switch, or find the one that is open; nothing is made yet."""
        user = owner(request)
        shape = NewSchemaChange(data=request.data)
        shape.is_valid(raise_exception=True)
        made = store.begin(region_here(), shape.validated_data["table"], user)
        return Response(SchemaChangeSerializer(made).data, 201)

    @documented(SchemaChangeSerializer, _TAG, operation_id="getSchemaChange")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One switch with its steps, as the catalog shows them now."""
        owner(request)
        return Response(SchemaChangeSerializer(store.one(region_here(), pk)).data)

    @documented(
        SchemaChangeSerializer, _TAG, request=StepAsked, operation_id="advanceSchemaChange"
    )
    @action(detail=True, methods=["post"])
    def step(self, request: Request, pk: str) -> Response:
        """Do the next step, with its own statements or with another one."""
        user = owner(request)
        shape = StepAsked(data=request.data or {})
        shape.is_valid(raise_exception=True)
        run = execute.runner(cast("Any", request.user), region_here())
        done = store.advance(region_here(), pk, user, run, shape.validated_data["sql"])
        return Response(SchemaChangeSerializer(done).data)

    @documented(SchemaChangeSerializer, _TAG, request=None, operation_id="giveUpSchemaChange")
    @action(detail=True, methods=["post"], url_path="give-up")
    def give_up(self, request: Request, pk: str) -> Response:
        """Take back what was applied, drop what was made; the old table stays as it is."""
        user = owner(request)
        run = execute.runner(cast("Any", request.user), region_here())
        return Response(SchemaChangeSerializer(store.give_up(region_here(), pk, user, run)).data)

    @documented(OpenApiTypes.STR, _TAG, operation_id="scriptSchemaChange")
    @action(detail=True, methods=["get"])
    def script(self, request: Request, pk: str) -> HttpResponse:
        """All of it as one SQL text, for those who run it themselves."""
        owner(request)
        found = store.one(region_here(), pk)
        return attachment(script(found.steps, found.back), f"{pk}.sql")
