"""Regions of an account, cohorts of regions, what their people are told, and what runs when.

A rollout is: name a cohort, put regions in it, announce a window, plan each region, look, approve;
in the window every approved plan is applied, one after the other. Pausing the cohort stops it
before the next region.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from catalog import history, snapshot
from catalog.bootstrap import ensure_region, ensure_role
from catalog.errors import InvalidStatement, UnknownItem
from catalog.migrate.apply import At, apply, nowhere
from catalog.migrate.legacy import legacy_entries
from catalog.migrate.releases import prepare
from catalog.migrate.rollback import resume
from catalog.models import (
    Account,
    Announcement,
    Cohort,
    FeatureFlag,
    FlagDefault,
    Migration,
    Region,
    RegionPlace,
    User,
)
from catalog.names import SYSTEM_ROLE
from catalog.plan.flags import FLAGS
from catalog.plan.picture import Picture
from ingest.errors import HeadraceError

_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True)
class Enabled:
    """A region that an account asked for; `made` when it was not there before."""

    region: str
    made: bool


def enable_region(provider: str, place: str, user: str, warehouse: str = "") -> Enabled:
    """Make a region with a catalog, flags and a warehouse of its own, once; again it is found.

    `warehouse` is empty for a folder in the installation's own. Raises InvalidStatement for names
    that no address can have.
    """
    for name in (provider, place):
        if not _PART.fullmatch(name):
            message = f'"{name}" is not the name of a cloud provider or region'
            hint = "Lower-case letters, digits and hyphens, such as aws and us-east-1."
            raise InvalidStatement(message, hint=hint)
    region = f"{provider}/{place}"
    if Region.objects.filter(name=region).exists():
        _place(region)
        return Enabled(region, made=False)
    with transaction.atomic():
        row = ensure_region(region)
        RegionPlace.objects.create(
            region=row,
            account=Account.objects.order_by("pk").first(),
            provider=provider,
            place=place,
            warehouse=warehouse,
            enabled_by=user,
        )
        for default in FlagDefault.objects.all():
            FeatureFlag.objects.create(region=row, name=default.name, value=default.value)
        for owner in User.objects.filter(is_superuser=True):
            ensure_role(region, owner.email, superuser=True)
        row.refresh_from_db()
        audit = history.Audit(row, user, timezone.now())
        audit.add("create", "region", "", {"region": region})
        audit.write()
        row.save(update_fields=["next_audit"])
    prepare(region)
    return Enabled(region, made=True)


def _place(region: str) -> RegionPlace:
    row = Region.objects.filter(name=region).first()
    if row is None:
        message = f'unknown region "{region}"'
        raise UnknownItem(message, hint="PUT /api/region/{cloud-provider}/{region} makes one.")
    provider, _, place = region.partition("/")
    found, _ = RegionPlace.objects.get_or_create(
        region=row, defaults={"provider": provider, "place": place or provider}
    )
    return found


def set_default(name: str, value: str | None, *, pin: bool = True) -> int:
    """What a flag is in regions made from now on; None takes the release's own default.

    With `pin` every region that says nothing keeps what it has now. Returns how many were pinned.
    Raises UnknownItem for an unknown flag, InvalidStatement for another value than on and off.
    """
    if name not in FLAGS:
        message = f'unrecognized configuration parameter "{name}"'
        raise UnknownItem(message)
    if value not in {"on", "off", None}:
        message = f'parameter "{name}" requires a "boolean" value'
        raise InvalidStatement(message)
    pinned = 0
    with transaction.atomic():
        if pin:
            for region in Region.objects.exclude(flags__name=name):
                FeatureFlag.objects.create(region=region, name=name, value=FLAGS[name])
                pinned += 1
        if value is None:
            FlagDefault.objects.filter(name=name).delete()
        else:
            FlagDefault.objects.update_or_create(name=name, defaults={"value": value})
    return pinned


def set_cohort(name: str, regions: tuple[str, ...]) -> Cohort:
    """A cohort with exactly these regions; raises UnknownItem."""
    with transaction.atomic():
        cohort, _ = Cohort.objects.get_or_create(name=name)
        places = [_place(region).pk for region in regions]
        RegionPlace.objects.filter(cohort=cohort).exclude(pk__in=places).update(cohort=None)
        RegionPlace.objects.filter(pk__in=places).update(cohort=cohort)
    return cohort


def cohort_named(name: str) -> Cohort:
    """The cohort; raises UnknownItem."""
    found = Cohort.objects.filter(name=name).first()
    if found is None:
        message = f'unknown cohort "{name}"'
        raise UnknownItem(message)
    return found


def set_window(name: str, opens: dt.datetime | None, closes: dt.datetime | None) -> Cohort:
    """When a cohort's approved plans are applied by themselves; None never. Raises
    InvalidStatement for an end before the beginning."""
    cohort = cohort_named(name)
    if opens is not None and closes is not None and closes <= opens:
        raise InvalidStatement("the window ends before it begins")
    cohort.opens_at, cohort.closes_at = opens, closes
    cohort.save(update_fields=["opens_at", "closes_at"])
    return cohort


def pause_cohort(name: str, *, paused: bool) -> Cohort:
    """Stop a cohort before its next region, or let it go on."""
    cohort = cohort_named(name)
    cohort.paused = paused
    cohort.save(update_fields=["paused"])
    return cohort


def announce(title: str, text: str, user: str, cohort: str = "") -> Announcement:
    """Tell a cohort's people, or everybody, what will happen; its window is told with it."""
    found = cohort_named(cohort) if cohort else None
    return Announcement.objects.create(
        cohort=found,
        title=title,
        text=text,
        user=user,
        published_at=timezone.now(),
        opens_at=found.opens_at if found else None,
        closes_at=found.closes_at if found else None,
    )


def due(now: dt.datetime) -> tuple[tuple[str, str], ...]:
    """Approved migrations whose cohort's window is open, region and id, oldest approval first."""
    rows = Migration.objects.filter(
        state=Migration.State.APPROVED,
        region__place__cohort__paused=False,
        region__place__cohort__opens_at__lte=now,
        region__place__cohort__closes_at__gt=now,
    )
    found = rows.select_related("region").order_by("approved_at", "pk")
    return tuple((row.region.name, f"m{row.number}") for row in found)


def run_due(at: At = nowhere) -> tuple[tuple[str, str, str], ...]:
    """Go on with what was interrupted, then apply what is due, one region after the other.

    Looks at windows and pauses again before each. One region's trouble leaves the others alone:
    region, migration and error (empty when all is well) of each.
    """
    done: list[tuple[str, str, str]] = []
    for region in Region.objects.values_list("name", flat=True):
        try:
            done += [(region, gid, "") for gid in resume(region, at)]
        except HeadraceError as error:
            done.append((region, "", error.message))
    tried: set[tuple[str, str]] = set()
    while left := [one for one in due(timezone.now()) if one not in tried]:
        region, gid = left[0]
        tried.add(left[0])
        try:
            apply(region, gid, SYSTEM_ROLE, at)
            done.append((region, gid, ""))
        except HeadraceError as error:
            done.append((region, gid, error.message))
    return tuple(done)


@dataclass(frozen=True)
class Progress:
    """How far a region is by itself: what is still in the old form, by kind."""

    single_output: int
    multi_output: int
    subsources: int
    webhooks: int

    @property
    def left(self) -> int:
        """Everything that is still in the old form."""
        return self.single_output + self.multi_output + self.subsources + self.webhooks


_counted: dict[str, tuple[Picture, Progress]] = {}


def progress(region: str) -> Progress:
    """A region's own progress towards tables, as its catalog is now; counted once a revision."""
    picture = snapshot.current(region)
    known = _counted.get(region)
    if known is None or known[0] is not picture:
        known = _counted[region] = (picture, _count(picture))
    return known[1]


def _count(picture: Picture) -> Progress:
    kinds = [one.kind for one in legacy_entries(picture)]
    return Progress(
        kinds.count("single-output"),
        kinds.count("multi-output"),
        kinds.count("subsource"),
        kinds.count("webhook"),
    )
