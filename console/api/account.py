"""Who is calling, and their personal tokens."""

from __future__ import annotations

import uuid
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from catalog import accounts
from catalog.errors import UnknownItem
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.accounts import (
    IssuedTokenSerializer,
    MeSerializer,
    NewToken,
    TokenSerializer,
)

_CLIENT_ID = OpenApiParameter("id", str, OpenApiParameter.PATH, description="The client id.")


class Me(APIView):
    """The caller."""

    @documented(MeSerializer, "account", operation_id="whoAmI")
    def get(self, request: Request) -> Response:
        """Who is calling."""
        user = cast("Any", request.user)
        body = {"email": user.email, "role": user.email, "owner": user.is_superuser}
        return Response(MeSerializer(body).data)


class Tokens(viewsets.ViewSet):
    """The caller's own personal tokens."""

    lookup_value_regex = "[0-9a-f-]{36}"

    @listing(TokenSerializer, "account", operation_id="listTokens")
    def list(self, request: Request) -> Response:
        """The caller's tokens, newest first."""
        rows = accounts.tokens(cast("Any", request.user))
        return page(request, rows, TokenSerializer, lambda row: row.name)

    @documented(
        IssuedTokenSerializer,
        "account",
        status=201,
        request=NewToken,
        operation_id="createToken",
        examples=examples.TOKEN,
    )
    def create(self, request: Request) -> Response:
        """Make a token. The secret and the app-specific password are in this answer only."""
        shape = NewToken(data=request.data)
        shape.is_valid(raise_exception=True)
        issued = accounts.create_token(cast("Any", request.user), shape.validated_data["name"])
        answer = Response(IssuedTokenSerializer(issued).data, 201)
        answer["Cache-Control"] = "no-store"
        return answer

    @documented(None, "account", status=204, operation_id="revokeToken", parameters=[_CLIENT_ID])
    def destroy(self, request: Request, pk: str) -> Response:
        """End a token at once."""
        try:
            client_id = uuid.UUID(pk)
        except ValueError as error:
            message = f'unknown token "{pk}"'
            raise UnknownItem(message) from error
        accounts.revoke_token(cast("Any", request.user), client_id)
        return Response(status=204)
