"""Materialized views: queries whose rows are kept."""

from __future__ import annotations

from typing import Any, cast

from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.errors import UnknownItem
from catalog.maintenance import hydrating
from catalog.reads import views as maintained
from catalog.reads.lineage import Lineage, lineage
from catalog.sql.nodes.materialized_view import CreateMaterializedView, Refresh
from catalog.sql.nodes.names import Option
from catalog.sql.nodes.replacement import RollbackReplacement
from console.api import examples
from console.api.definitions import cluster_in, select_in, view_of
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Renamed, Written, name_of, new_name
from console.api.shapes.maintained import (
    HydrationDone,
    LineageSerializer,
    MaterializedViewSerializer,
    NewMaterializedView,
    VersionSerializer,
    WrittenMaterializedView,
)
from console.api.statements import drop, made, rename, write
from console.fragments.owners import owner_only

KIND = "materialized view"
_TAG = "materialized views"


class MaterializedViews(viewsets.ViewSet):
    """Queries whose rows are kept, brought up to date with every change of what they read."""

    lookup_value_regex = "u[0-9]+"

    @listing(MaterializedViewSerializer, _TAG, operation_id="listMaterializedViews")
    def list(self, request: Request) -> Response:
        """All materialized views, without replacements."""
        rows = maintained.views()
        return page(request, rows, MaterializedViewSerializer, lambda row: row.item.name)

    @documented(MaterializedViewSerializer, _TAG, operation_id="getMaterializedView")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One materialized view, with how far its rows are."""
        return Response(MaterializedViewSerializer(view_of(pk)).data)

    @documented(
        WrittenMaterializedView,
        _TAG,
        status=201,
        request=NewMaterializedView,
        operation_id="createMaterializedView",
        examples=examples.MATERIALIZED_VIEW,
    )
    def create(self, request: Request) -> Response:
        """Keep a query's rows: CREATE MATERIALIZED VIEW."""
        shape = NewMaterializedView(data=request.data)
        shape.is_valid(raise_exception=True)
        statement = _statement(shape.validated_data)
        written = write(request.user, statement)
        item = view_of(made(statement.name.parts, reads.items(KIND)))
        return Response(written | {"item": MaterializedViewSerializer(item).data}, 201)

    @documented(Written, _TAG, request=Renamed, operation_id="renameMaterializedView")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER MATERIALIZED VIEW .. RENAME TO."""
        return Response(rename(request.user, pk, "materialized view", request.data))

    @documented(Written, _TAG, parameters=[Removal], operation_id="dropMaterializedView")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it: DROP MATERIALIZED VIEW."""
        return Response(drop(request.user, pk, "materialized view", request.query_params))

    @listing(VersionSerializer, _TAG, operation_id="listMaterializedViewVersions")
    @action(detail=True)
    def versions(self, request: Request, pk: str) -> Response:
        """Every definition that it has had, the newest first."""
        rows = maintained.versions(view_of(pk).item.id)
        return page(request, rows, VersionSerializer, lambda row: row.create_sql)

    @documented(Written, _TAG, request=None, operation_id="rollbackMaterializedView")
    @action(detail=True, methods=["post"])
    def rollback(self, request: Request, pk: str) -> Response:
        """Take the last apply back: ALTER MATERIALIZED VIEW .. ROLLBACK REPLACEMENT."""
        statement = RollbackReplacement(name_of(view_of(pk).item))
        return Response(write(request.user, statement))

    @documented(LineageSerializer, _TAG, operation_id="getMaterializedViewLineage")
    @action(detail=True)
    def lineage(self, request: Request, pk: str) -> Response:
        """Everything up- and downstream of it, item by item and column by column."""
        return Response(lineage_body(view_of(pk).item.id))

    @documented(HydrationDone, _TAG, request=None, operation_id="cancelHydration")
    @action(detail=True, methods=["post"], url_path="hydration/cancel")
    def cancel(self, request: Request, pk: str) -> Response:
        """Stop its first computation, or a replacement's, until it is resumed."""
        return _hydration(request, pk, hydrating.cancel_hydration)

    @documented(HydrationDone, _TAG, request=None, operation_id="resumeHydration")
    @action(detail=True, methods=["post"], url_path="hydration/resume")
    def resume(self, request: Request, pk: str) -> Response:
        """Let a stopped first computation go on."""
        return _hydration(request, pk, hydrating.resume_hydration)


class Lineages(viewsets.ViewSet):
    """Where rows and values come from, and where they go, for any item."""

    lookup_value_regex = "u[0-9]+"

    @documented(LineageSerializer, _TAG, operation_id="getLineage")
    def retrieve(self, request: Request, pk: str) -> Response:
        """Everything up- and downstream of a source, a table or a view."""
        if reads.item(pk) is None:
            message = f'unknown item "{pk}"'
            raise UnknownItem(message)
        return Response(lineage_body(pk))


def _statement(body: dict[str, Any]) -> CreateMaterializedView:
    query = select_in(body["query"])
    every, history = body.get("refresh_every"), body.get("retain_history")
    return CreateMaterializedView(
        new_name(body),
        query.query,
        text=query.text,
        columns=tuple(body["columns"]),
        cluster=cluster_in(body),
        refresh=(Refresh("every", every),) if every else (),
        options=(Option("RETAIN HISTORY", history),) if history else (),
        if_not_exists=body["if_not_exists"],
        body=query.body,
    )


def _hydration(request: Request, pk: str, act: Any) -> Response:
    view = maintained.view(pk) or view_of(pk)
    region = owner_only(cast("Any", request.user), view.item)
    return Response(HydrationDone({"done": bool(act(region, pk))}).data)


def lineage_body(item_id: str) -> Any:
    """The graph around an item, as JSON."""
    found = lineage(item_id) or Lineage((), (), ())
    edges = [{"reads": reads_, "item": item} for reads_, item in found.edges]
    body = {"items": found.items, "edges": edges, "columns": found.columns}
    return LineageSerializer(body).data
