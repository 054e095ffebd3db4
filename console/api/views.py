"""Views: queries with a name."""

from __future__ import annotations

from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.errors import InvalidStatement
from catalog.sql.nodes.query import Select
from catalog.sql.nodes.view import CreateView
from catalog.sql.parse import parse_one
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Renamed, Written, find, new_name
from console.api.shapes.resources import ViewSerializer, WrittenView
from console.api.shapes.writes import NewView
from console.api.statements import drop, made, rename, write


class Views(viewsets.ViewSet):
    """Queries with a name."""

    lookup_value_regex = "u[0-9]+"

    @listing(ViewSerializer, "views", operation_id="listViews")
    def list(self, request: Request) -> Response:
        """All views."""
        return page(request, reads.items("view"), ViewSerializer, lambda row: row.name)

    @documented(ViewSerializer, "views", operation_id="getView")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One view."""
        return Response(ViewSerializer(find(pk, "view")).data)

    @documented(
        WrittenView,
        "views",
        status=201,
        request=NewView,
        operation_id="createView",
        examples=examples.VIEW,
    )
    def create(self, request: Request) -> Response:
        """Give a query a name: CREATE VIEW."""
        shape = NewView(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        query = parse_one(body["query"]).statement
        if not isinstance(query, Select) or query.as_of is not None:
            raise InvalidStatement("a view needs a SELECT without AS OF")
        statement = CreateView(
            new_name(body),
            query.query,
            text=query.text,
            body=query.body,
            columns=tuple(body["columns"]),
            if_not_exists=body["if_not_exists"],
        )
        written = write(request.user, statement)
        item = find(made(statement.name.parts, reads.items("view")), "view")
        return Response(written | {"item": ViewSerializer(item).data}, 201)

    @documented(Written, "views", request=Renamed, operation_id="renameView")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER VIEW .. RENAME TO."""
        return Response(rename(request.user, pk, "view", request.data))

    @documented(Written, "views", parameters=[Removal], operation_id="dropView")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it: DROP VIEW."""
        return Response(drop(request.user, pk, "view", request.query_params))
