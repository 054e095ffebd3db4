"""Lists: searched, cut to a page, wrapped with their total; and the schema of all that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.api.shapes.items import Paging
from console.api.shapes.sql import Failure

Row = TypeVar("Row")
Shape = type[serializers.Serializer[Any]]


def page(
    request: Request, rows: Sequence[Row], shape: Shape, text: Callable[[Row], str]
) -> Response:
    """The asked-for page of `rows` whose `text` has the searched words in it."""
    asked = Paging(data=request.query_params)
    asked.is_valid(raise_exception=True)
    words = asked.validated_data["search"].lower().split()
    found = [row for row in rows if all(word in text(row).lower() for word in words)]
    start, limit = asked.validated_data["offset"], asked.validated_data["limit"]
    part = shape(found[start : start + limit], many=True).data
    return Response({"items": part, "total": len(found), "limit": limit, "offset": start})


def page_of(shape: Shape) -> serializers.Serializer[Any]:
    """The schema of a page."""
    name = f"{shape.__name__.removesuffix('Serializer')}Page"
    return inline_serializer(
        name,
        {
            "items": shape(many=True),
            "total": serializers.IntegerField(),
            "limit": serializers.IntegerField(),
            "offset": serializers.IntegerField(),
        },
    )


def listing(shape: Shape, tag: str, **more: Any) -> Callable[[Any], Any]:
    """Decorate a view that answers with a page."""
    return documented(page_of(shape), tag, parameters=[Paging], **more)


def documented(response: Any, tag: str, *, status: int = 200, **more: Any) -> Callable[[Any], Any]:
    """Decorate a view with its answer, and with the one body that failures have."""
    responses = {status: response, "4XX": Failure}
    return extend_schema(tags=[tag], responses=responses, **more)
