"""What pages and REST resources show of migrations: frozen rows, a page at a time.

A page costs four queries whatever the size of the plan; the long texts are read only when they are
downloaded.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils import timezone

from catalog.errors import InvalidStatement, UnknownItem
from catalog.migrate.store import TABLES, migration
from catalog.models import Item, Migration, MigrationEvent, MigrationStep
from catalog.names import dotted

LIMIT = 100


@dataclass(frozen=True)
class StepRow:
    """One object's part of a plan; `item` is its id now, `new_item` the one of a new object."""

    number: int
    action: str
    item: str
    new_item: str
    kind: str
    new_kind: str
    name: str
    new_name: str
    before: str
    after: str
    why: str
    feed: str
    bytes: int


@dataclass(frozen=True)
class EventRow:
    """Something that happened to a migration or a switch."""

    at: dt.datetime
    user: str
    event: str
    text: str


@dataclass(frozen=True)
class MigrationRow:
    """A migration without its steps. `next` says what an operator can do now, in words.

    `summary` is described at `catalog.migrate.store.summary`; `pause` is ms that writers of the
    catalog waited; `now` is the catalog's revision as it is, `revision` the one of the plan.
    """

    id: str
    region: str
    kind: str
    state: str
    revision: int
    summary: dict[str, Any]
    user: str
    planned_at: dt.datetime
    approved_by: str
    approved_at: dt.datetime | None
    applied_at: dt.datetime | None
    rolled_back_at: dt.datetime | None
    expires_at: dt.datetime | None
    pause: int
    attempts: int
    error: str
    hint: str
    next: str
    now: int = 0


@dataclass(frozen=True)
class IdRow:
    """What has the name had the id `old` and has `new` afterwards."""

    old: str
    new: str
    name: str


@dataclass(frozen=True)
class NamedItem:
    """An item of any region by its id."""

    id: str
    kind: str
    name: str


@dataclass(frozen=True)
class MigrationPage:
    """A migration with one page of its steps, and its history."""

    row: MigrationRow
    steps: tuple[StepRow, ...]
    total: int
    offset: int
    events: tuple[EventRow, ...]


def migrations(region: str) -> tuple[MigrationRow, ...]:
    """A region's migrations, the newest first."""
    rows = Migration.objects.filter(region__name=region).select_related("region")
    return tuple(_row(row) for row in rows.defer("dbt", "terraform").order_by("-number"))


def everywhere(limit: int = LIMIT) -> tuple[MigrationRow, ...]:
    """Migrations of all regions, the newest first."""
    rows = Migration.objects.select_related("region").defer("dbt", "terraform")
    return tuple(_row(row) for row in rows.order_by("-planned_at", "-pk")[:limit])


def one(region: str, gid: str) -> MigrationRow:
    """One migration; raises UnknownItem."""
    return _row(migration(region, gid))


def page(
    region: str, gid: str, offset: int = 0, limit: int = LIMIT, search: str = ""
) -> MigrationPage:
    """A migration and the asked-for steps whose names, ids or statements have `search` in them.

    Raises UnknownItem.
    """
    row = migration(region, gid)
    steps = MigrationStep.objects.filter(migration=row).order_by("number")
    if search:
        steps = steps.filter(
            Q(name__icontains=search) | Q(new_name__icontains=search) | Q(item=search)
        )
        total = steps.count()
    else:
        total = row.summary.get("steps", 0)
    events = MigrationEvent.objects.filter(migration=row).order_by("pk")
    return MigrationPage(
        _row(row),
        tuple(_step(step) for step in steps[offset : offset + limit]),
        total,
        offset,
        tuple(EventRow(e.at, e.user, e.event, e.text) for e in events[:200]),
    )


def step(region: str, gid: str, number: int) -> StepRow:
    """One step of a migration; raises UnknownItem."""
    found = MigrationStep.objects.filter(migration=migration(region, gid), number=number).first()
    if found is None:
        message = f"migration {gid} has no step {number}"
        raise UnknownItem(message)
    return _step(found)


def id_map(row: MigrationRow, offset: int = 0, limit: int = LIMIT) -> tuple[IdRow, ...]:
    """Ids that change, in the order of the steps, a page at a time; one query.

    Where a source gives its data to a table, the table's step follows the source's.
    """
    steps = MigrationStep.objects.filter(
        migration__region__name=row.region, migration__number=int(row.id[1:])
    ).order_by("number")
    fields = ("item", "new_item", "new_name")
    if row.kind != TABLES:
        kept = steps.exclude(item="").exclude(new_item="").values_list(*fields)
        return tuple(IdRow(*found) for found in kept[offset : offset + limit])
    kept = steps.filter(action__in=("split", "new table")).values_list(*fields)
    pairs = list(kept[2 * offset : 2 * (offset + limit)])
    return tuple(
        IdRow(was[0], becomes[1], becomes[2])
        for was, becomes in zip(pairs[::2], pairs[1::2], strict=True)
    )


def named(region: str, ids: Sequence[str]) -> tuple[NamedItem, ...]:
    """Those of a region's items that are there, in the order of `ids`; one query."""
    fields = ("gid", "kind", "schema__database__name", "schema__name", "name")
    rows = Item.objects.filter(region__name=region, gid__in=ids).values_list(*fields)
    found = {gid: NamedItem(gid, kind, dotted(tuple(path))) for gid, kind, *path in rows}
    return tuple(found[gid] for gid in ids if gid in found)


def download(region: str, gid: str, what: str) -> str:
    """The changes to make in `dbt` or `terraform`, or the steps as `sql`; raises InvalidStatement
    for anything else and UnknownItem."""
    row = migration(region, gid)
    if what == "dbt":
        return row.dbt
    if what == "terraform":
        return row.terraform
    if what != "sql":
        message = f'there is no download "{what}"'
        raise InvalidStatement(message, hint="There are dbt, terraform and sql.")
    steps = MigrationStep.objects.filter(migration=row).order_by("number")
    lines: list[str] = []
    for step in steps.iterator(2000):
        lines += [f"-- {step.number}. {step.action} {step.item} {step.name}: {step.why}"]
        lines += [f"-- was: {step.before}"] if step.before else []
        lines += [f"{step.after};" if step.after else "", ""]
    return "\n".join(lines)


def _step(step: MigrationStep) -> StepRow:
    return StepRow(
        step.number,
        step.action,
        step.item,
        step.new_item,
        step.kind,
        step.new_kind,
        step.name,
        step.new_name,
        step.before,
        step.after,
        step.why,
        str(step.extra.get("feed", "")),
        int(step.extra.get("bytes", -1)),
    )


def _row(row: Migration) -> MigrationRow:
    return MigrationRow(
        id=f"m{row.number}",
        region=row.region.name,
        kind=row.kind,
        state=row.state,
        revision=row.revision,
        summary=row.summary,
        user=row.user,
        planned_at=row.planned_at,
        approved_by=row.approved_by,
        approved_at=row.approved_at,
        applied_at=row.applied_at,
        rolled_back_at=row.rolled_back_at,
        expires_at=row.expires_at,
        pause=row.pause,
        attempts=row.attempts,
        error=row.error,
        hint=row.hint,
        next=_next(row),
        now=row.region.revision,
    )


def _next(row: Migration) -> str:
    """What to do next, for an operator at night."""
    if row.state == Migration.State.PLANNED:
        count = row.summary.get("blockers_count", 0)
        if count:
            return f"Remove its {count} blockers, then plan again."
        return "Look at its steps; approve it for its window, or apply it now."
    if row.state == Migration.State.APPLIED:
        if row.expires_at is not None and row.expires_at < timezone.now():
            return "Nothing: it can no longer be rolled back."
        return "Watch sources and tables; roll it back if something is wrong."
    return _NEXT[row.state]


_NEXT = {
    "approved": "Wait for the window of its cohort, apply it now, or pause it.",
    "paused": "Approve it again to let it go on.",
    "applying": "Wait; if its process has ended, it is resumed by itself within two minutes.",
    "rolling back": "Wait; if its process has ended, it is resumed by itself within two minutes.",
    "rolled back": "Find out why; plan again when it can go on.",
    "superseded": "Look at the newer plan.",
}
