"""Replacements: other definitions of views, computed beside them, compared, applied."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.reads import ViewRow
from catalog.reads import views as maintained
from catalog.results import Rows
from catalog.sql.nodes.item import Drop
from catalog.sql.nodes.replacement import (
    ApplyReplacement,
    CreateReplacement,
    SetGuard,
    ShowChanges,
)
from catalog.sql.render import render
from console.api import examples
from console.api.definitions import (
    cluster_in,
    guard_options,
    replacement_body,
    replacement_of,
    select_in,
)
from console.api.lists import documented, page, page_of
from console.api.shapes.items import Paging, Written, name_of, new_name, referred
from console.api.shapes.maintained import (
    ChangedRows,
    ChangesLimit,
    GuardFields,
    ImpactList,
    NewReplacement,
    ReplacementSerializer,
    WrittenReplacement,
)
from console.api.statements import made, write
from console.execute import run
from console.fragments import impact
from console.fragments.owners import owner_only
from console.values import describe, json_rows
from ingest.errors import HeadraceError

KIND = "materialized view"
_TAG = "replacements"
_OF = OpenApiParameter("target", str, description="Only those for the view with this id.")


class Replacements(viewsets.ViewSet):
    """Other definitions of materialized views. None is visible in its view before an apply."""

    lookup_value_regex = "u[0-9]+"

    @documented(
        page_of(ReplacementSerializer),
        _TAG,
        operation_id="listReplacements",
        parameters=[Paging, _OF],
    )
    def list(self, request: Request) -> Response:
        """Every replacement that waits, oldest first."""
        rows = maintained.replacements(request.query_params.get("target", ""))
        bodies = [replacement_body(row) for row in rows]
        return page(request, bodies, ReplacementSerializer, lambda row: str(row["item"].name))

    @documented(ReplacementSerializer, _TAG, operation_id="getReplacement")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One replacement: how far it is, and what it would change."""
        return Response(_body(replacement_of(pk)))

    @documented(
        WrittenReplacement,
        _TAG,
        status=201,
        request=NewReplacement,
        operation_id="createReplacement",
        examples=examples.REPLACEMENT,
    )
    def create(self, request: Request) -> Response:
        """Compute another definition beside a view: CREATE REPLACEMENT MATERIALIZED VIEW."""
        shape = NewReplacement(data=request.data)
        shape.is_valid(raise_exception=True)
        statement = _statement(shape.validated_data)
        written = write(request.user, statement)
        item = replacement_of(made(statement.name.parts, reads.items(KIND)))
        return Response(written | {"item": _body(item)}, 201)

    @documented(Written, _TAG, operation_id="dropReplacement")
    def destroy(self, request: Request, pk: str) -> Response:
        """Discard it: DROP REPLACEMENT. Its view stays as it is."""
        name = name_of(replacement_of(pk).item)
        return Response(write(request.user, Drop("materialized view", (name,), replacement=True)))

    @documented(Written, _TAG, request=None, operation_id="applyReplacement")
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Put it in its view's place: ALTER MATERIALIZED VIEW .. APPLY REPLACEMENT."""
        row = replacement_of(pk)
        assert row.target is not None  # noqa: S101 (a replacement has one)
        return Response(
            write(request.user, ApplyReplacement(name_of(row.target), name_of(row.item)))
        )

    @documented(
        WrittenReplacement,
        _TAG,
        request=GuardFields,
        operation_id="guardReplacement",
        examples=examples.GUARD,
    )
    @action(detail=True, methods=["put"])
    def guard(self, request: Request, pk: str) -> Response:
        """Say when it applies itself: ALTER MATERIALIZED VIEW .. SET (..)."""
        row = replacement_of(pk)
        shape = GuardFields(data=request.data)
        shape.is_valid(raise_exception=True)
        options = guard_options(shape.validated_data)
        written = write(request.user, SetGuard(name_of(row.item), options))
        return Response(written | {"item": _body(replacement_of(pk))})

    @documented(
        ChangedRows, _TAG, parameters=[ChangesLimit], operation_id="listReplacementChanges"
    )
    @action(detail=True)
    def changes(self, request: Request, pk: str) -> Response:
        """The rows that applying it would change: SHOW CHANGES FOR REPLACEMENT."""
        shape = ChangesLimit(data=request.query_params)
        shape.is_valid(raise_exception=True)
        name = name_of(replacement_of(pk).item)
        statement = ShowChanges(name, shape.validated_data["limit"])
        return Response(_changes(run(cast("Any", request.user), render(statement))[-1]))

    @documented(ImpactList, _TAG, operation_id="getReplacementImpact")
    @action(detail=True)
    def impact(self, request: Request, pk: str) -> Response:
        """How many rows of the views above its target would change, all at one time."""
        row = replacement_of(pk)
        region = owner_only(cast("Any", request.user), row.item)
        target = maintained.view(row.target.id) if row.target else None
        assert target is not None  # noqa: S101 (a replacement has one)
        found = impact.counted(region, target, row)
        return Response(ImpactList({"items": found}).data)


def _body(row: ViewRow) -> Any:
    return ReplacementSerializer(replacement_body(row)).data


def _statement(body: dict[str, Any]) -> CreateReplacement:
    query = select_in(body["query"])
    return CreateReplacement(
        new_name(body),
        referred(body["target"], KIND),
        query.query,
        text=query.text,
        columns=tuple(body["columns"]),
        cluster=cluster_in(body),
        options=guard_options(body.get("guard")),
        if_not_exists=body["if_not_exists"],
        body=query.body,
    )


def _changes(outcome: Any) -> dict[str, Any]:
    if isinstance(outcome, HeadraceError):
        raise outcome
    assert isinstance(outcome, Rows)  # noqa: S101 (SHOW CHANGES gives rows)
    return {
        "rows": json_rows(outcome.relation, outcome.data),
        "desc": describe(outcome.relation),
        "timestamp": outcome.timestamp,
    }
