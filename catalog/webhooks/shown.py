"""Webhooks as pages and REST resources show them."""

from __future__ import annotations

from dataclasses import dataclass

from catalog import snapshot
from catalog.here import region_here
from catalog.plan.definitions import definition
from catalog.reads import TableRow, table
from catalog.sql.nodes.webhook import CreateWebhook
from catalog.urls import webhook_url
from catalog.webhooks.deliveries import Delivery, latest
from catalog.webhooks.find import is_webhook
from catalog.webhooks.sample import sample

FEW = 20


@dataclass(frozen=True)
class WebhookRow:
    """A webhook: where its requests go, what they look like, and the newest of them."""

    table: TableRow
    url: str
    body_format: str
    checked: bool
    sample: str
    deliveries: tuple[Delivery, ...] = ()


def webhooks(region: str = "") -> tuple[WebhookRow, ...]:
    """Every webhook, oldest first, without its deliveries."""
    region = region or region_here()
    entries = snapshot.current(region).entries.values()
    rows = (_row(region, entry.id) for entry in entries if is_webhook(entry))
    return tuple(row for row in rows if row is not None)


def webhook(item_id: str, region: str = "", deliveries: int = FEW) -> WebhookRow | None:
    """One webhook with its newest deliveries, None when it is not there."""
    region = region or region_here()
    entry = snapshot.current(region).entries.get(item_id)
    if entry is None or not is_webhook(entry):
        return None
    return _row(region, item_id, latest(region, item_id, deliveries))


def _row(region: str, item_id: str, deliveries: tuple[Delivery, ...] = ()) -> WebhookRow | None:
    found = table(item_id, region)
    if found is None:
        return None
    statement = definition(found.item.create_sql)
    if not isinstance(statement, CreateWebhook):
        raise TypeError(found.item.create_sql)
    url = webhook_url((found.item.database, found.item.schema, found.item.name), region)
    checked = statement.check is not None
    return WebhookRow(found, url, statement.body, checked, sample(statement, url), deliveries)
