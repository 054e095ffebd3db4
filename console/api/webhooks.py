"""Webhooks: tables that HTTP requests fill; their requests go to /api/webhook/."""

from __future__ import annotations

from typing import Any

from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import reads
from catalog.errors import UnknownItem
from catalog.sql.grammar.webhook import check_of
from catalog.sql.nodes.names import ItemKind, Name
from catalog.sql.nodes.webhook import CreateWebhook, HeaderFilter, IncludedHeader
from catalog.webhooks.shown import WebhookRow, webhook, webhooks
from console.api import examples
from console.api.lists import documented, listing, page
from console.api.shapes.items import Removal, Written, new_name
from console.api.shapes.webhooks import NewWebhook, WebhookSerializer, WrittenWebhook
from console.api.statements import drop, made, write


class WebhookResources(viewsets.ViewSet):
    """Tables that HTTP requests fill."""

    lookup_value_regex = "u[0-9]+"

    @listing(WebhookSerializer, "webhooks", operation_id="listWebhooks")
    def list(self, request: Request) -> Response:
        """All webhooks."""
        return page(request, webhooks(), WebhookSerializer, lambda row: row.table.item.name)

    @documented(WebhookSerializer, "webhooks", operation_id="getWebhook")
    def retrieve(self, request: Request, pk: str) -> Response:
        """One webhook, with its newest deliveries."""
        return Response(WebhookSerializer(_webhook(pk)).data)

    @documented(
        WrittenWebhook,
        "webhooks",
        status=201,
        request=NewWebhook,
        operation_id="createWebhook",
        examples=examples.WEBHOOK,
    )
    def create(self, request: Request) -> Response:
        """Make a webhook: CREATE TABLE .. FROM WEBHOOK."""
        shape = NewWebhook(data=request.data)
        shape.is_valid(raise_exception=True)
        statement = _statement(new_name(shape.validated_data), shape.validated_data)
        written = write(request.user, statement)
        item = _webhook(made(statement.name.parts, reads.items("table")))
        return Response(written | {"item": WebhookSerializer(item).data}, 201)

    @documented(Written, "webhooks", parameters=[Removal], operation_id="dropWebhook")
    def destroy(self, request: Request, pk: str) -> Response:
        """Drop it, with the rows it has: DROP TABLE."""
        kind: ItemKind = "source" if _webhook(pk).table.item.kind == "source" else "table"
        return Response(drop(request.user, pk, kind, request.query_params))


def _webhook(item_id: str) -> WebhookRow:
    """The webhook with that id. Raises UnknownItem."""
    found = webhook(item_id)
    if found is None:
        message = f'unknown webhook "{item_id}"'
        raise UnknownItem(message)
    return found


def _statement(name: Name, body: dict[str, Any]) -> CreateWebhook:
    headers = body.get("headers")
    return CreateWebhook(
        "table",
        name,
        body["body_format"],
        headers=None if headers is None else tuple(map(_filter, headers)),
        mapped=tuple(
            IncludedHeader(one["header"].lower(), one["name"], one["as_bytes"])
            for one in body["columns"]
        ),
        check=check_of(body["check"]) if "check" in body else None,
        if_not_exists=body["if_not_exists"],
    )


def _filter(text: str) -> HeaderFilter:
    return HeaderFilter(text.lower().removeprefix("!"), text.startswith("!"))
