"""The webhook that a request is for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog import snapshot
from catalog.keys import decrypt
from catalog.models import SecretValue
from catalog.names import Path
from catalog.plan.checking import Compiled, compile_check
from catalog.plan.definitions import definition
from catalog.plan.picture import Entry, Picture, SourceFacts
from catalog.sql.nodes.webhook import CreateWebhook


@dataclass(frozen=True)
class Webhook:
    """A webhook, ready for requests. `secrets` are by the names that its check uses."""

    id: str
    feed: str
    reference: int
    statement: CreateWebhook
    check: Compiled | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


_known: dict[str, tuple[Picture, dict[str, Webhook]]] = {}
_lock = threading.Lock()


def find(region: str, path: Path) -> Webhook | None:
    """The webhook of that name, None when there is none.

    Costs one small query unless the catalog has changed. Raises Terminal for a lost key.
    """
    picture = snapshot.current(region)
    entry = picture.by_path.get(path)
    if entry is None or not is_webhook(entry):
        return None
    with _lock:
        kept = _known.get(region)
        if kept is None or kept[0] is not picture:
            kept = _known[region] = (picture, {})
    found = kept[1].get(entry.id)
    if found is None:
        found = kept[1][entry.id] = _made(picture, entry)
    return found


def is_webhook(entry: Entry) -> bool:
    """Whether requests fill the item."""
    return isinstance(entry.facts, SourceFacts) and entry.facts.type == "webhook"


def _made(picture: Picture, entry: Entry) -> Webhook:
    statement = definition(entry.create_sql)
    if not isinstance(statement, CreateWebhook):
        raise TypeError(entry.create_sql)
    feed, reference = entry.source.feed, entry.table.identity
    if statement.check is None:
        return Webhook(entry.id, feed, reference, statement)
    check = compile_check(statement.check)
    return Webhook(entry.id, feed, reference, statement, check, _secrets(picture, statement))


def _secrets(picture: Picture, statement: CreateWebhook) -> dict[str, str]:
    found: dict[str, str] = {}
    rows = SecretValue.objects.values_list("encrypted", flat=True)
    for one in statement.check.inputs if statement.check else ():
        entry = _by_name(picture, one.secret.parts) if one.secret else None
        if entry is not None:
            kept = rows.get(item__region__name=picture.region, item__gid=entry.id)
            found[one.name] = decrypt(bytes(kept))
    return found


def _by_name(picture: Picture, parts: tuple[str, ...]) -> Entry | None:
    database, schema, name = parts
    return picture.by_path.get((database, schema, name))
