"""Whether the process lives, and whether it can work."""

from __future__ import annotations

from django.db import DatabaseError, connection
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

_ANSWER = {200: OpenApiTypes.STR}


class Live(APIView):
    """For a supervisor: restart what does not answer."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(tags=["health"], operation_id="livez", responses=_ANSWER, auth=[])
    def get(self, request: Request) -> Response:
        """Always `ok`, as long as there is an answer."""
        return Response("ok")


class Ready(APIView):
    """For a load balancer: send work only where the catalog answers."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(
        tags=["health"],
        operation_id="readyz",
        responses=_ANSWER | {503: OpenApiTypes.STR},
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """`ready` when the catalog answers."""
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM catalog_region")
        except DatabaseError:
            return Response("the catalog does not answer", 503)
        return Response("ready")
