"""Plans as rows: written once, read by the page; what happened to them, in order."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from catalog import history, snapshot
from catalog.errors import InvalidStatement, UnknownItem
from catalog.here import unknown_region
from catalog.migrate.measure import measured
from catalog.migrate.plan import Plan, Step
from catalog.migrate.tables import plan_tables
from catalog.models import Migration, MigrationEvent, MigrationStep, Region
from catalog.names import dotted

OPEN = (Migration.State.PLANNED, Migration.State.APPROVED, Migration.State.PAUSED)
TABLES = "sources to tables"


def make_plan(region: str, kind: str, user: str) -> Migration:
    """Plan a region's migration and keep it; older plans of the kind that wait are superseded.

    Raises InvalidStatement for an unknown kind and while one is being carried out, UnknownItem
    for an unknown region.
    """
    if kind != TABLES:
        message = f'unknown kind of migration "{kind}"'
        hint = f'There is "{TABLES}"; built-ins are migrated at the start of a new release.'
        raise InvalidStatement(message, hint=hint)
    known_region(region)
    return store(plan_tables(snapshot.current(region), measured(region)), user)


def known_region(region: str) -> Region:
    """The region's row; raises UnknownItem."""
    found = Region.objects.filter(name=region).first()
    if found is None:
        raise unknown_region(region)
    return found


@transaction.atomic
def store(plan: Plan, user: str) -> Migration:
    """Keep a plan with its steps. Raises InvalidStatement while one is being carried out."""
    region = Region.objects.select_for_update().get(name=plan.region)
    _refuse_running(region)
    Migration.objects.filter(region=region, kind=plan.kind, state__in=OPEN).update(
        state=Migration.State.SUPERSEDED
    )
    newest = Migration.objects.filter(region=region).aggregate(Max("number"))["number__max"] or 0
    now = timezone.now()
    migration = Migration.objects.create(
        region=region,
        number=newest + 1,
        kind=plan.kind,
        revision=plan.revision,
        digest=plan.digest,
        summary=summary(plan),
        dbt=plan.dbt,
        terraform=plan.terraform,
        user=user,
        planned_at=now,
    )
    write_steps(migration, plan.steps)
    tell(migration, user, "plan", f"{len(plan.steps)} steps, {len(plan.blockers)} blockers", now)
    return migration


def _refuse_running(region: Region) -> None:
    running = Migration.objects.filter(region=region, state__in=("applying", "rolling back"))
    found = running.first()
    if found is not None:
        message = f"migration m{found.number} is {found.state}"
        raise InvalidStatement(message, hint="Wait for its end.", sqlstate="55006")


def write_steps(migration: Migration, steps: tuple[Step, ...]) -> None:
    """The steps as rows, in place of those there are."""
    MigrationStep.objects.filter(migration=migration).delete()
    rows = [
        MigrationStep(
            migration=migration,
            number=number,
            action=step.action,
            item=step.item,
            new_item=step.new_item,
            kind=step.kind,
            new_kind=step.new_kind,
            name=dotted(step.path),
            new_name=dotted(step.new_path),
            before=step.before,
            after=step.after,
            why=step.why,
            extra=step.extra,
        )
        for number, step in enumerate(steps, 1)
    ]
    MigrationStep.objects.bulk_create(rows, batch_size=1000)


def summary(plan: Plan) -> dict[str, object]:
    """What a page shows of a plan at once, whatever its size: counts, and the first of each."""
    counts: dict[str, int] = {}
    for step in plan.steps:
        counts[step.action] = counts.get(step.action, 0) + 1
    return {
        "steps": len(plan.steps),
        "actions": counts,
        "ids": dict(list(plan.ids.items())[:1000]),
        "ids_changed": len(plan.ids),
        "dependents": list(plan.dependents[:1000]),
        "dependents_count": len(plan.dependents),
        "feeds": list(plan.feeds[:1000]),
        "bytes": plan.bytes,
        "bytes_moved": 0,
        "seconds": plan.seconds,
        "blockers": [asdict(blocker) for blocker in plan.blockers[:1000]],
        "blockers_count": len(plan.blockers),
        "notes": list(plan.notes),
    }


def tell(migration: Migration, user: str, event: str, text: str, now: dt.datetime) -> None:
    """A line of the migration's own history and an audit event; inside a transaction."""
    MigrationEvent.objects.create(migration=migration, at=now, user=user, event=event, text=text)
    region = Region.objects.select_for_update().get(pk=migration.region_id)
    audit = history.Audit(region, user, now)
    details = {"id": f"m{migration.number}", "kind": migration.kind, "text": text}
    audit.add(event, "migration", f"m{migration.number}", details)
    audit.write()
    Region.objects.filter(pk=region.pk).update(next_audit=F("next_audit") + 1)


def migration(region: str, gid: str) -> Migration:
    """The migration `m<number>` of a region; raises UnknownItem."""
    number = gid.removeprefix("m")
    found = None
    if number.isdigit():
        rows = Migration.objects.select_related("region").defer("dbt", "terraform")
        found = rows.filter(region__name=region, number=int(number)).first()
    if found is None:
        message = f'unknown migration "{gid}"'
        raise UnknownItem(message)
    return found


def approve(region: str, gid: str, user: str) -> Migration:
    """Let a plan be applied in its window. Raises InvalidStatement where it cannot be."""
    return _to(region, gid, user, Migration.State.APPROVED, ("planned", "paused"))


def pause(region: str, gid: str, user: str) -> Migration:
    """Keep an approved plan from being applied by itself; approving it again goes on."""
    return _to(region, gid, user, Migration.State.PAUSED, ("approved",))


@transaction.atomic
def _to(region: str, gid: str, user: str, state: str, states: tuple[str, ...]) -> Migration:
    found = migration(region, gid)
    row = Migration.objects.select_for_update().get(pk=found.pk)
    if row.state not in states:
        message = f"migration {gid} is {row.state}"
        raise InvalidStatement(message, hint=f"Only one that is {' or '.join(states)} can be.")
    now = timezone.now()
    row.state = state
    if state == Migration.State.APPROVED:
        refuse_blocked(row)
        row.approved_by, row.approved_at = user, now
    row.save(update_fields=["state", "approved_by", "approved_at"])
    tell(row, user, "approve" if state == "approved" else "pause", "", now)
    return row


def refuse_blocked(row: Migration) -> None:
    """Raise InvalidStatement for a plan with blockers, naming the first of them."""
    blockers = row.summary.get("blockers", [])
    if not blockers:
        return
    first = blockers[0]
    count = row.summary.get("blockers_count", len(blockers))
    message = f"migration m{row.number} has {count} blocker{'s' if count > 1 else ''}"
    detail = f"{first['name']}: {first['problem']}"
    raise InvalidStatement(message, detail=detail, hint=first["remedy"], sqlstate="55000")
