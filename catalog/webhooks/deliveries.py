"""What arrived at webhooks lately: kept for people to look at, not a record of everything."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from catalog.models import Item, WebhookDelivery

KEPT = 100
"""Deliveries kept per webhook."""


@dataclass(frozen=True)
class Delivery:
    """One request to the webhook `item`: its HTTP status, bytes of its body, rows that it made,
    and why it was refused."""

    item: str
    at: dt.datetime
    status: int
    bytes: int
    rows: int = 0
    reason: str = ""


def record(region: str, deliveries: Iterable[Delivery]) -> None:
    """Keep the newest ones of each webhook; those of dropped ones are forgotten."""
    by_item: dict[str, list[Delivery]] = {}
    for one in deliveries:
        by_item.setdefault(one.item, []).append(one)
    with transaction.atomic():
        for item in Item.objects.filter(region__name=region, gid__in=by_item):
            newest = by_item[item.gid][-KEPT:]
            WebhookDelivery.objects.bulk_create(
                WebhookDelivery(
                    item=item,
                    at=one.at,
                    status=one.status,
                    bytes=one.bytes,
                    rows=one.rows,
                    reason=one.reason,
                )
                for one in newest
            )
            rows = WebhookDelivery.objects.filter(item=item).order_by("-pk")
            oldest = rows.values_list("pk", flat=True)[KEPT : KEPT + 1].first()
            if oldest is not None:
                WebhookDelivery.objects.filter(item=item, pk__lte=oldest).delete()


def latest(region: str, item: str, limit: int = KEPT) -> tuple[Delivery, ...]:
    """The webhook's newest deliveries, newest first."""
    rows = WebhookDelivery.objects.filter(item__region__name=region, item__gid=item)
    fields = ("item__gid", "at", "status", "bytes", "rows", "reason")
    found = rows.order_by("-pk").values_list(*fields)[:limit]
    return tuple(Delivery(*row) for row in found)
