"""Tables: from a source, plain, or many from a source at once."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from sqlglot import exp

from catalog import reads
from catalog.errors import UnknownItem
from catalog.sql.nodes.names import Name
from catalog.sql.nodes.table import ColumnDefinition, CreateTable, CreateTableFromSource
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Renamed, Written, new_name, referred
from console.api.shapes.resources import TableSerializer, WrittenTable, WrittenTables
from console.api.shapes.writes import NewPlainTable, NewTableFromSource, NewTables
from console.api.statements import drop, made, rename, write, write_together
from ingest.contract.types import Type

NEW_TABLE = PolymorphicProxySerializer(
    component_name="NewTable",
    serializers=[NewTableFromSource, NewPlainTable],
    resource_type_field_name=None,
)


class Tables(viewsets.ViewSet):
    """What can be read."""

    lookup_value_regex = "u[0-9]+"

    @listing(TableSerializer, "tables", operation_id="listTables")
    def list(self, request: Request) -> Response:
        """All tables."""
        rows = reads.tables()
        return page(request, rows, TableSerializer, lambda row: row.item.name)

    @documented(TableSerializer, "tables", operation_id="getTable")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One table, with its columns and status."""
        return Response(TableSerializer(_table(pk)).data)

    @documented(
        WrittenTable,
        "tables",
        status=201,
        request=NEW_TABLE,
        operation_id="createTable",
        examples=examples.TABLE,
    )
    def create(self, request: Request) -> Response:
        """Make a table: CREATE TABLE .. FROM SOURCE when `source` is given, else CREATE TABLE."""
        statement = _statement(request.data)
        written = write(request.user, statement)
        item = TableSerializer(_made(statement.name)).data
        return Response(written | {"item": item}, 201)

    @documented(Written, "tables", request=Renamed, operation_id="renameTable")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER TABLE .. RENAME TO."""
        return Response(rename(request.user, pk, "table", request.data))

    @documented(Written, "tables", parameters=[Removal], operation_id="dropTable")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it: DROP TABLE."""
        return Response(drop(request.user, pk, "table", request.query_params))

    @documented(
        WrittenTables,
        "tables",
        status=201,
        request=NewTables,
        operation_id="createTables",
        examples=examples.TABLES,
    )
    @action(detail=False, methods=["post"])
    def batch(self, request: Request) -> Response:
        """Make tables in one transaction: all or none, from one upstream snapshot."""
        shape = NewTables(data=request.data)
        shape.is_valid(raise_exception=True)
        statements = [_from_source(body) for body in shape.validated_data["tables"]]
        written = write_together(request.user, statements)
        items = [TableSerializer(_made(statement.name)).data for statement in statements]
        return Response(written | {"items": items}, 201)


def _made(name: Name) -> reads.TableRow:
    return _table(made(name.parts, reads.items("table")))


def _table(item_id: str) -> reads.TableRow:
    """The table with that id. Raises UnknownItem."""
    found = reads.table(item_id)
    if found is None:
        message = f'unknown table "{item_id}"'
        raise UnknownItem(message)
    return found


def _statement(body: Any) -> CreateTable | CreateTableFromSource:
    from_source = isinstance(body, dict) and "source" in body
    shape = NewTableFromSource(data=body) if from_source else NewPlainTable(data=body)
    shape.is_valid(raise_exception=True)
    valid = shape.validated_data
    return _from_source(valid) if from_source else _plain(valid)


def _from_source(body: dict[str, Any]) -> CreateTableFromSource:
    reference = body.get("reference")
    parts = (reference["namespace"], reference["name"]) if reference else ()
    return CreateTableFromSource(
        new_name(body),
        referred(body["source"], "source"),
        reference=Name(tuple(part for part in parts if part)) if parts else None,
        columns=tuple(body["columns"]),
        text_columns=tuple(body["text_columns"]),
        exclude_columns=tuple(body["exclude_columns"]),
        if_not_exists=body["if_not_exists"],
    )


def _plain(body: dict[str, Any]) -> CreateTable:
    columns = tuple(_column(column) for column in body["columns"])
    return CreateTable(new_name(body), columns, if_not_exists=body["if_not_exists"])


def _column(body: dict[str, Any]) -> ColumnDefinition:
    try:
        type_ = Type.parse(body["type"])
    except ValueError as error:
        raise ValidationError({"columns": [str(error)]}) from error
    constant = body.get("default")
    return ColumnDefinition(
        body["name"],
        type_,
        nullable=body["nullable"],
        default=None if constant is None else exp.convert(constant).sql(dialect="postgres"),
        primary_key=body["primary_key"],
    )
