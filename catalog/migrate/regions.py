"""What pages and REST resources show of regions, cohorts and announcements."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q

from catalog import snapshot
from catalog.errors import UnknownItem
from catalog.migrate.rollout import Progress, progress
from catalog.models import (
    Announcement,
    AuditEvent,
    Cohort,
    FlagDefault,
    Migration,
    Region,
    RegionPlace,
)
from catalog.plan.flags import FLAGS
from catalog.planes import plane_of


@dataclass(frozen=True)
class FlagRow:
    """A flag in a region; `own` when the region says so itself."""

    name: str
    value: str
    own: bool


@dataclass(frozen=True)
class FlagChange:
    """A flag was changed; None stands for the default."""

    name: str
    old: str | None
    new: str | None
    user: str
    at: dt.datetime


@dataclass(frozen=True)
class RegionRow:
    """A region with its place in a rollout. `migration` is its newest one, `state` that one's."""

    name: str
    provider: str
    place: str
    warehouse: str
    cluster: str
    cohort: str
    revision: int
    created_at: dt.datetime
    flags: tuple[FlagRow, ...]
    progress: Progress
    migration: str
    state: str


@dataclass(frozen=True)
class CohortRow:
    """A cohort with its regions, and its window."""

    name: str
    kind: str
    opens_at: dt.datetime | None
    closes_at: dt.datetime | None
    paused: bool
    regions: tuple[str, ...]


@dataclass(frozen=True)
class AnnouncementRow:
    """What people were told."""

    title: str
    text: str
    cohort: str
    user: str
    published_at: dt.datetime
    opens_at: dt.datetime | None
    closes_at: dt.datetime | None


def regions() -> tuple[RegionRow, ...]:
    """Every region, oldest first."""
    rows = Region.objects.order_by("pk").select_related("place__cohort")
    return tuple(_row(row) for row in rows)


def region(name: str) -> RegionRow:
    """One region; raises UnknownItem."""
    found = Region.objects.filter(name=name).select_related("place__cohort").first()
    if found is None:
        message = f'unknown region "{name}"'
        raise UnknownItem(message)
    return _row(found)


def _row(row: Region) -> RegionRow:
    place: RegionPlace | None = getattr(row, "place", None)
    provider, _, name = row.name.partition("/")
    newest = Migration.objects.filter(region=row).order_by("-number").first()
    own = snapshot.current(row.name).flags
    return RegionRow(
        name=row.name,
        provider=place.provider if place else provider,
        place=place.place if place else name,
        warehouse=plane_of(row.name).warehouse,
        cluster=place.cluster if place else "quickstart",
        cohort=place.cohort.name if place and place.cohort else "",
        revision=row.revision,
        created_at=row.created_at,
        flags=tuple(FlagRow(n, own.get(n, default), n in own) for n, default in FLAGS.items()),
        progress=progress(row.name),
        migration=f"m{newest.number}" if newest else "",
        state=newest.state if newest else "",
    )


def flag_history(name: str) -> tuple[FlagChange, ...]:
    """Changes of a region's flags, the newest first."""
    rows = AuditEvent.objects.filter(region__name=name, object_type="system")
    return tuple(
        FlagChange(
            str(row.details.get("name", "")),
            row.details.get("old_value"),
            row.details.get("new_value"),
            row.user,
            row.occurred_at,
        )
        for row in rows.order_by("-number")[:500]
    )


def cohorts() -> tuple[CohortRow, ...]:
    """Every cohort."""
    return tuple(
        CohortRow(
            row.name,
            row.kind,
            row.opens_at,
            row.closes_at,
            row.paused,
            tuple(row.places.order_by("pk").values_list("region__name", flat=True)),
        )
        for row in Cohort.objects.order_by("pk")
    )


def cohort_of(region_name: str) -> CohortRow | None:
    """The cohort that a region is in, without its other regions; one query."""
    row = Cohort.objects.filter(places__region__name=region_name).first()
    if row is None:
        return None
    return CohortRow(row.name, row.kind, row.opens_at, row.closes_at, row.paused, (region_name,))


def flag_defaults() -> tuple[FlagRow, ...]:
    """Every flag as it is in regions made from now on; `own` when that was set."""
    own = dict(FlagDefault.objects.values_list("name", "value"))
    return tuple(FlagRow(n, own.get(n, default), n in own) for n, default in FLAGS.items())


def announcements(region_name: str = "") -> tuple[AnnouncementRow, ...]:
    """What people were told, the newest first; with a region, only what concerns it."""
    rows = Announcement.objects.select_related("cohort").order_by("-published_at")
    if region_name:
        concerned = Q(cohort=None) | Q(cohort__places__region__name=region_name)
        rows = rows.filter(concerned).distinct()
    return tuple(
        AnnouncementRow(
            row.title,
            row.text,
            row.cohort.name if row.cohort else "",
            row.user,
            row.published_at,
            row.opens_at,
            row.closes_at,
        )
        for row in rows[:100]
    )


def announced(region_name: str, now: dt.datetime) -> tuple[AnnouncementRow, ...]:
    """What people of a region should know now: until its window is over, else for two weeks."""
    lasting = now - dt.timedelta(days=14)
    return tuple(
        row
        for row in announcements(region_name)
        if (row.closes_at > now if row.closes_at else row.published_at > lasting)
    )
