"""Which shards are kept, and what keeping each of them takes; from committed rows alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from django.utils import timezone

from catalog.desired import view_command
from catalog.models import ViewProgress
from catalog.plan.picture import Entry, Picture, Version
from ingest.contract.views import View
from ingest.errors import HeadraceError

_GONE = HeadraceError("something that the definition reads was dropped", sqlstate="42P01")
Role = Literal["live", "replacement", "version"]


@dataclass(frozen=True)
class Kept:
    """One shard that is kept. `live` is its view's data, `replacement` is made beside another's,
    `version` was the view's before. `error`: its definition does not stand any more."""

    role: Role
    entry: Entry
    shard: str
    view: View | None = None
    error: HeadraceError | None = None
    region: str = ""

    @property
    def options(self) -> dict[str, str]:
        """When it refreshes; empty with every change."""
        return self.entry.view.options if self.role != "version" else {}

    @property
    def fixed(self) -> bool:
        """Whether nothing that it reads can change."""
        return self.view is not None and self.view.constant


@dataclass(frozen=True)
class Known:
    """How far a shard is, times in ms. `held`: it is to stay where it is for a moment."""

    hydrated: bool
    through: int
    since: int
    held: bool


def views_of(picture: Picture) -> tuple[Entry, ...]:
    """The region's materialized views and replacements."""
    return tuple(e for e in picture.entries.values() if e.kind == "materialized view")


def kept_of(picture: Picture) -> dict[str, Kept]:
    """Everything that is kept, by shard, what is read before what reads it."""
    found: dict[str, Kept] = {}
    for entry in _ordered(picture):
        kept = _kept("replacement" if entry.view.target else "live", picture, entry)
        found[kept.shard] = kept
        before = entry.view.before
        if before is not None and before.shard:
            found.setdefault(before.shard, _kept("version", picture, entry, before))
    return found


def _ordered(picture: Picture) -> list[Entry]:
    """Views after all that they read."""
    views = views_of(picture)
    above = picture.closure(entry.id for entry in views)
    wanted = {entry.id for entry in views}
    return [entry for entry in reversed(above) if entry.id in wanted]


def _kept(role: Role, picture: Picture, entry: Entry, version: Version | None = None) -> Kept:
    shard = entry.shard if version is None else version.shard
    needs = () if version is None else version.needs
    kept = Kept(role, entry, shard, region=picture.region)
    if any(item not in picture.entries for item in needs):
        return replace(kept, error=_GONE)
    try:
        return replace(kept, view=view_command(picture, entry, version))
    except HeadraceError as error:
        return replace(kept, error=error)
    except KeyError:
        return replace(kept, error=_GONE)


def known_of(region: str, shards: Iterable[str]) -> dict[str, Known]:
    """How far the shards are, as the catalog has it."""
    rows = ViewProgress.objects.filter(item__region__name=region, shard__in=tuple(shards))
    now = timezone.now()
    fields = ("shard", "hydrated", "complete_through", "readable_from", "held_until")
    return {
        shard: Known(hydrated, through, since, held is not None and held > now)
        for shard, hydrated, through, since, held in rows.values_list(*fields)
    }
