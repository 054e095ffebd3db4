"""Sources, their references and their progress."""

from __future__ import annotations

from typing import Any

from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.errors import UnknownItem
from catalog.sql.nodes.names import Name, Option
from catalog.sql.nodes.source import CreateSource, RefreshReferences
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Renamed, Written, find, name_of, new_name, referred
from console.api.shapes.resources import (
    ProgressSerializer,
    ReferenceSerializer,
    SourceSerializer,
    WrittenSource,
)
from console.api.shapes.writes import NewSource
from console.api.statements import drop, made, rename, write


class Sources(viewsets.ViewSet):
    """Upstreams whose references can be made into tables."""

    lookup_value_regex = "u[0-9]+"

    @listing(SourceSerializer, "sources", operation_id="listSources")
    def list(self, request: Request) -> Response:
        """All sources."""
        return page(request, reads.sources(), SourceSerializer, lambda row: row.item.name)

    @documented(SourceSerializer, "sources", operation_id="getSource")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One source."""
        return Response(SourceSerializer(_source(pk)).data)

    @documented(
        WrittenSource,
        "sources",
        status=201,
        request=NewSource,
        operation_id="createSource",
        examples=examples.SOURCE,
    )
    def create(self, request: Request) -> Response:
        """Make a source and list its references: CREATE SOURCE. It makes no table by itself."""
        shape = NewSource(data=request.data)
        shape.is_valid(raise_exception=True)
        statement = _statement(shape.validated_data)
        written = write(request.user, statement)
        source = _source(made(statement.name.parts, reads.items("source")))
        return Response(written | {"item": SourceSerializer(source).data}, 201)

    @documented(Written, "sources", request=Renamed, operation_id="renameSource")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER SOURCE .. RENAME TO."""
        return Response(rename(request.user, pk, "source", request.data))

    @documented(Written, "sources", parameters=[Removal], operation_id="dropSource")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it, and with `cascade` its tables: DROP SOURCE."""
        return Response(drop(request.user, pk, "source", request.query_params))

    @listing(ReferenceSerializer, "sources", operation_id="listReferences")
    @action(detail=True, methods=["get"])
    def references(self, request: Request, pk: str) -> Response:
        """The upstream tables that tables can be made from."""
        find(pk, "source")
        rows = reads.references(pk)
        return page(request, rows, ReferenceSerializer, lambda row: f"{row.namespace}.{row.name}")

    @documented(Written, "sources", request=None, operation_id="refreshReferences")
    @references.mapping.post  # type: ignore[untyped-decorator]
    def refresh(self, request: Request, pk: str) -> Response:
        """Ask upstream again: ALTER SOURCE .. REFRESH REFERENCES."""
        name = name_of(find(pk, "source"))
        return Response(write(request.user, RefreshReferences(name)))

    @documented(ProgressSerializer, "sources", operation_id="getProgress")
    @action(detail=True, methods=["get"])
    def progress(self, request: Request, pk: str) -> Response:
        """How far the source and each of its tables are."""
        source = _source(pk)
        tables = reads.tables(source_id=pk)
        body = {"status": source.status, "feed": source.feed, "tables": tables}
        return Response(ProgressSerializer(body).data)


def _source(item_id: str) -> reads.SourceRow:
    """The source with that id. Raises UnknownItem."""
    found = reads.source(item_id)
    if found is None:
        message = f'unknown source "{item_id}"'
        raise UnknownItem(message)
    return found


def _statement(body: dict[str, Any]) -> CreateSource:
    postgres = body["type"] == "postgres"
    chosen = tuple(Option(name, value) for name, value in body["options"].items())
    publication = (Option("PUBLICATION", body["publication"]),) if postgres else ()
    return CreateSource(
        new_name(body),
        body["type"],
        publication or chosen,
        connection=referred(body["connection"], "connection") if postgres else None,
        generator=body.get("generator", ""),
        cluster=Name((body["cluster"],)) if "cluster" in body else None,
        if_not_exists=body["if_not_exists"],
    )
