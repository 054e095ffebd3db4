"""Carrying a plan out: one atomic commit for the whole region, or nothing.

The plan is made anew at the newest revision and compared with the one that was looked at; then
rows, revision, audit and what takes it all back are one transaction. A process that dies before
its commit has changed nothing and one that dies after it has done everything, so going on after a
crash is applying again.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from catalog import leases, signals, snapshot
from catalog.errors import InvalidStatement, StaleCatalog
from catalog.migrate.measure import measured
from catalog.migrate.plan import Plan
from catalog.migrate.store import migration, refuse_blocked, summary, tell, write_steps
from catalog.migrate.tables import plan_tables
from catalog.migrate.writer import TableWriter
from catalog.models import Migration, Region

At = Callable[[str], None]
Act = Callable[[Migration, str, At], tuple[str, ...]]
LEASE = 120.0
FORCED = "force_source_table_syntax"
ENABLED = "enable_create_table_from_source"


def nowhere(point: str) -> None:
    """What is told of the points that an apply passes, when nobody asks."""


def new_owner() -> str:
    """A name for one run; two runs of a process are two owners."""
    return leases.owner_name(uuid.uuid4().hex[:8])


def apply(region: str, gid: str, user: str, at: At = nowhere, owner: str = "") -> Migration:
    """Carry a plan out, or go on with one whose process ended; returns it applied.

    Raises InvalidStatement where its state or a blocker forbids it, StaleCatalog when the catalog
    has changed in a way that matters to it. `at` is told of every point that is passed.
    """
    row = migration(region, gid)
    if row.state in {"planned", "approved"}:
        refuse_blocked(row)
    claim(row, user, ("planned", "approved", "applying"), owner or new_owner())
    return carried(row, user, at, _carry_out, Migration.State.PLANNED)


def carried(row: Migration, user: str, at: At, act: Act, otherwise: Migration.State) -> Migration:
    """Do what was claimed and tell of it; when that fails the state is `otherwise` again."""
    region = row.region.name
    at("claimed")
    try:
        ids = act(row, user, at)
    except Exception as error:
        give_back(row, user, error, otherwise)
        raise
    at("committed")
    revision = Region.objects.values_list("revision", flat=True).get(name=region)
    signals.committed.send(sender=None, region=region, revision=revision, ids=ids)
    at("told")
    return migration(region, f"m{row.number}")


def claim(row: Migration, user: str, states: tuple[str, ...], owner: str) -> None:
    """Take the migration's lease and note the beginning; the last of `states` is what it is then.

    Raises InvalidStatement for another state, and while another process carries one out.
    """
    with transaction.atomic():
        _refuse_other(row)
        chosen = Migration.objects.filter(pk=row.pk)
        if not chosen.filter(state__in=states).exists():
            message = f"migration m{row.number} is {row.state}"
            hint = f"Only one that is {' or '.join(states)} can be."
            raise InvalidStatement(message, hint=hint, sqlstate="55000")
        if not leases.take_row(chosen, owner, LEASE):
            message = f"migration m{row.number} is being carried out by another process"
            raise InvalidStatement(message, hint="Watch it; do not start it twice.")
        event = "resume" if row.state == states[-1] else states[-1]
        chosen.update(state=states[-1], attempts=row.attempts + 1, error="", hint="")
        row.lease_owner = owner
        tell(row, user, event, "", timezone.now())


def _refuse_other(row: Migration) -> None:
    busy = Migration.objects.filter(
        Q(state="applying") | Q(state="rolling back"), region_id=row.region_id
    )
    other = busy.exclude(pk=row.pk).first()
    if other is not None:
        message = f"migration m{other.number} is {other.state}"
        raise InvalidStatement(message, hint="Wait for its end.", sqlstate="55006")


def give_back(row: Migration, user: str, error: Exception, state: str) -> None:
    """Nothing was changed: the plan waits again, with the reason."""
    hint = getattr(error, "hint", "") or "Nothing was changed. Plan again, or look at the log."
    with transaction.atomic():
        mine = Migration.objects.filter(pk=row.pk, lease_owner=row.lease_owner)
        if not mine.update(
            state=state, error=str(error), hint=hint, lease_owner="", lease_expires=None
        ):
            return
        tell(row, user, "failed", str(error), timezone.now())


def still_mine(row: Migration) -> None:
    """Raise InvalidStatement when another process took the migration over; inside its commit."""
    if not Migration.objects.filter(pk=row.pk, lease_owner=row.lease_owner).exists():
        message = f"migration m{row.number} was taken over by another process"
        raise InvalidStatement(message, hint="Watch it; do not start it twice.")


def fresh_plan(row: Migration) -> Plan:
    """The plan as it is now; raises StaleCatalog when it would do something else, or
    InvalidStatement when something has come in its way."""
    plan = plan_tables(snapshot.current(row.region.name), measured(row.region.name))
    if plan.digest != row.digest:
        message = f"the catalog changed since migration m{row.number} was planned"
        detail = f"It was planned at revision {row.revision}, now it is {plan.revision}."
        raise StaleCatalog(message, detail=detail, hint="Plan again, and look at the new plan.")
    if plan.blockers:
        first = plan.blockers[0]
        message = f"{first.name}: {first.problem}"
        raise InvalidStatement(message, hint=first.remedy, sqlstate="55000")
    return plan


def _carry_out(row: Migration, user: str, at: At) -> tuple[str, ...]:
    """The one commit; the ids that it touched."""
    plan = fresh_plan(row)
    at("planned again")
    for _ in range(2):
        began = time.monotonic()
        with transaction.atomic():
            region = Region.objects.select_for_update().get(pk=row.region_id)
            at("locked")
            still_mine(row)
            if region.revision == plan.revision:
                ids = _write(row, region, plan, user, at)
                pause = int((time.monotonic() - began) * 1000)
                Migration.objects.filter(pk=row.pk).update(pause=pause)
                at("before commit")
                return ids
        plan = fresh_plan(row)
    message = "the catalog does not stand still long enough to be migrated"
    raise StaleCatalog(message, hint="Apply again when fewer statements change it.")


def _write(row: Migration, region: Region, plan: Plan, user: str, at: At) -> tuple[str, ...]:
    now = timezone.now()
    expires = now + timedelta(seconds=row.retention)
    writer = TableWriter(region, f"m{row.number}", user, now, expires)
    writer.write(plan, at)
    writer.changes.flag(ENABLED, _on(region, ENABLED))
    writer.changes.flag(FORCED, "on")
    at("flags")
    writer.changes.keep(row)
    at("kept for taking back")
    region.revision += 1
    region.stamp = uuid.uuid4()
    writer.finish()
    region.save(update_fields=["revision", "stamp", "next_item", "next_oid", "next_audit"])
    if plan.revision != row.revision:
        write_steps(row, plan.steps)
    Migration.objects.filter(pk=row.pk).update(
        state=Migration.State.APPLIED,
        applied_at=now,
        expires_at=expires,
        summary=summary(plan),
        lease_owner="",
        lease_expires=None,
    )
    at("written")
    tell(row, user, "applied", f"{len(plan.steps)} steps", now)
    return writer.touched


def _on(region: Region, name: str) -> str | None:
    """The value that a flag has to have to be on: none where its default does."""
    return "on" if region.flags.filter(name=name).exists() else None
