"""Secrets: written, never read."""

from __future__ import annotations

from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.sql.nodes.secret import AlterSecret, CreateSecret
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Renamed, Written, find, name_of, new_name
from console.api.shapes.resources import SecretSerializer, WrittenSecret
from console.api.shapes.writes import NewSecret, SecretValue
from console.api.statements import drop, made, rename, write


class Secrets(viewsets.ViewSet):
    """Passwords and keys that connections refer to."""

    lookup_value_regex = "u[0-9]+"

    @listing(SecretSerializer, "secrets", operation_id="listSecrets")
    def list(self, request: Request) -> Response:
        """All secrets, without their values."""
        return page(request, reads.secrets(), SecretSerializer, lambda row: row.name)

    @documented(SecretSerializer, "secrets", operation_id="getSecret")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One secret, without its value."""
        return Response(SecretSerializer(find(pk, "secret")).data)

    @documented(
        WrittenSecret,
        "secrets",
        status=201,
        request=NewSecret,
        operation_id="createSecret",
        examples=examples.SECRET,
    )
    def create(self, request: Request) -> Response:
        """Keep a secret: CREATE SECRET."""
        shape = NewSecret(data=request.data)
        shape.is_valid(raise_exception=True)
        body = shape.validated_data
        name = new_name(body)
        written = write(request.user, CreateSecret(name, body["value"], body["if_not_exists"]))
        item = find(made(name.parts, reads.secrets()), "secret")
        return Response(written | {"item": SecretSerializer(item).data}, 201)

    @documented(Written, "secrets", request=SecretValue, operation_id="replaceSecret")
    def update(self, request: Request, pk: str) -> Response:
        """Give it another value: ALTER SECRET."""
        shape = SecretValue(data=request.data)
        shape.is_valid(raise_exception=True)
        name = name_of(find(pk, "secret"))
        return Response(write(request.user, AlterSecret(name, shape.validated_data["value"])))

    @documented(Written, "secrets", request=Renamed, operation_id="renameSecret")
    def partial_update(self, request: Request, pk: str) -> Response:
        """Give it another name: ALTER SECRET .. RENAME TO."""
        return Response(rename(request.user, pk, "secret", request.data))

    @documented(Written, "secrets", parameters=[Removal], operation_id="dropSecret")
    def destroy(self, request: Request, pk: str) -> Response:
        """Forget it: DROP SECRET."""
        return Response(drop(request.user, pk, "secret", request.query_params))
