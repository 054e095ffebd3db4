"""What people have begun in a wizard and not finished; a user sees only their own."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from catalog.here import region_here
from catalog.models import Draft, Item, Region, User


@dataclass(frozen=True)
class DraftRow:
    """A draft; `state` are the answers so far."""

    id: uuid.UUID
    kind: str
    title: str
    state: dict[str, Any]
    created_at: dt.datetime
    updated_at: dt.datetime


def create(
    user: User, kind: str, *, state: dict[str, Any] | None = None, title: str = ""
) -> DraftRow:
    """A new draft."""
    region = Region.objects.get(name=region_here())
    draft = Draft.objects.create(
        region=region, user=user, kind=kind, state=state or {}, title=title[:200]
    )
    return _row(draft)


def get(user: User, draft_id: uuid.UUID | str) -> DraftRow | None:
    """The user's draft of that id in the region, or None."""
    rows = Draft.objects.filter(user=user, region__name=region_here(), uuid=draft_id)
    draft = rows.first()
    return None if draft is None else _row(draft)


def save(
    user: User, draft_id: uuid.UUID | str, *, state: dict[str, Any], title: str | None = None
) -> None:
    """Keep new answers; a draft that was discarded stays so."""
    changes: dict[str, Any] = {"state": state, "updated_at": timezone.now()}
    if title is not None:
        changes["title"] = title[:200]
    Draft.objects.filter(user=user, uuid=draft_id).update(**changes)


def discard(user: User, draft_id: uuid.UUID | str) -> None:
    """Forget a draft."""
    Draft.objects.filter(user=user, uuid=draft_id).delete()


def open_drafts(user: User, kind: str | None = None) -> tuple[DraftRow, ...]:
    """The user's drafts in the region, the newest first; a source is called what it is now."""
    region = region_here()
    rows = Draft.objects.filter(user=user, region__name=region).order_by("-updated_at")
    if kind is not None:
        rows = rows.filter(kind=kind)
    found = [_row(draft) for draft in rows]
    sources = Item.objects.filter(
        region__name=region, gid__in={str(row.state.get("source", "")) for row in found}
    )
    names = dict(sources.values_list("gid", "name"))
    return tuple(
        replace(row, title=tables_of(names[row.state["source"]]))
        if row.state.get("source") in names
        else row
        for row in found
    )


def tables_of(source: str) -> str:
    """The title of a draft for tables of a source of that name."""
    return f"Tables of {source}"


def _row(draft: Draft) -> DraftRow:
    return DraftRow(
        draft.uuid, draft.kind, draft.title, draft.state, draft.created_at, draft.updated_at
    )
