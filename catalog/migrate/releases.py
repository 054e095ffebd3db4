"""The start of a release: a region's built-ins become those of the code, before anything serves.

What a user's view reads must still be there: otherwise the start is refused, says why, and has
changed nothing. Users' objects keep ids, definitions and data, so nobody is sent anything again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from catalog import history, snapshot
from catalog.errors import InvalidStatement, StatementError
from catalog.migrate.builtins import (
    BuiltinPlan,
    Declared,
    Remembered,
    index_names,
    plan_builtins,
    steps_of,
)
from catalog.migrate.plan import Blocker, Plan
from catalog.migrate.store import store, summary, tell, write_steps
from catalog.models import BuiltinRelation, Item, Migration, Region, RegionPlace
from catalog.names import CLUSTER, SYSTEM_ROLE, SYSTEM_SCHEMAS, dotted
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry, Picture
from catalog.plan.query_body import tables_of
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.query.names import Names, Resolved, parts_of
from catalog.system import run as system
from catalog.system.builtin import FIRST_OID, gid_of
from catalog.system.needs import needs_of
from catalog.system.registry import BY_ID, RELATIONS, lookup
from ingest.contract.relation import Relation
from ingest.errors import HeadraceError

RELEASE = 5
"""Grows with every release that changes what a catalog holds."""
LOGS = ("mz_internal.mz_source_status_history", "mz_internal.mz_feeds")
"""Built-ins that a cluster writes; each cluster has an index on each."""


@dataclass(frozen=True)
class Prepared:
    """What the start did, or would do: the plan, and what is in its way."""

    region: str
    plan: BuiltinPlan
    blockers: tuple[Blocker, ...]
    first: bool = False


def declared(
    clusters: Iterable[str] = (CLUSTER,), taken: Iterable[str] = ()
) -> tuple[Declared, ...]:
    """The built-ins of this release: relations, and the clusters' indexes on logs.

    `taken` are names that indexes cannot have.
    """
    relations = tuple(
        Declared(
            relation.id,
            tuple((column.name, column.type.sql) for column in relation.relation.columns),
            needs_of(relation),
        )
        for relation in RELATIONS
    )
    logs = [name for name in LOGS if name in BY_ID]
    names = index_names([name.partition(".")[2] for name in logs], clusters, taken)
    by_log = {name.partition(".")[2]: name for name in logs}
    indexes = tuple(
        Declared(name, (), (by_log[log],), "index") for (log, _), name in names.items()
    )
    return relations + indexes


def remembered(region: str) -> tuple[Remembered, ...]:
    """The built-ins that a region remembers."""
    rows = BuiltinRelation.objects.filter(region__name=region).order_by("pk")
    return tuple(
        Remembered(
            row.name,
            row.gid,
            row.oid,
            row.fingerprint,
            tuple((name, type_) for name, type_ in row.columns),
            tuple(row.needs),
            row.kind,
        )
        for row in rows
    )


def look(region: str, wanted: tuple[Declared, ...] | None = None) -> Prepared:
    """What a start of this release would do to a region; changes nothing.

    Raises InvalidStatement when a newer release has served it.
    """
    row = Region.objects.get(name=region)
    place = RegionPlace.objects.filter(region=row).first()
    if place is not None and place.release > RELEASE:
        message = f"region {region} was served by a newer release"
        detail = f"Its catalog is of release {place.release}, this is release {RELEASE}."
        hint = "Start that release, or restore the backup made before it."
        raise InvalidStatement(message, detail=detail, hint=hint, sqlstate="55000")
    known = remembered(region)
    chosen = declared(taken=_taken(row, known)) if wanted is None else wanted
    if not known:
        return Prepared(region, _first(chosen), (), first=True)
    numbers = [int(one.id[1:]) for one in known]
    next_id = max([*numbers, place.next_builtin - 1 if place else 0]) + 1
    plan = plan_builtins(known, chosen, next_id, row.next_oid)
    blockers = tuple(_blockers(snapshot.current(region), chosen)) if plan.changes else ()
    return Prepared(region, plan, blockers)


def _taken(row: Region, known: tuple[Remembered, ...]) -> set[str]:
    """Names of users' items; an index that has its name keeps it, whoever takes it later."""
    indexes = {one.name for one in known if one.kind == "index"}
    names = Item.objects.filter(region=row, name__endswith="-primary-idx")
    return set(names.values_list("name", flat=True)) - indexes


def _first(wanted: tuple[Declared, ...]) -> BuiltinPlan:
    """A region that remembers none: the ids that the code has given so far."""
    creates = tuple(
        Remembered(
            one.name, gid_of(i), FIRST_OID + i, one.fingerprint, one.columns, one.needs, one.kind
        )
        for i, one in enumerate(wanted)
    )
    return BuiltinPlan((), creates, (), {one.name: "is remembered" for one in creates})


def _blockers(picture: Picture, wanted: tuple[Declared, ...]) -> Iterator[Blocker]:
    """Users' views over built-ins that would no longer work."""
    names = {one.name: set(dict(one.columns)) for one in wanted}
    for entry in views_over_builtins(picture):
        problem = _problem(entry, picture, names)
        if problem:
            remedy = "Start the former release, redefine or drop the view, then start this one."
            yield Blocker(entry.id, dotted(entry.path), problem, remedy)


def views_over_builtins(picture: Picture) -> tuple[Entry, ...]:
    """Users' views that name built-in relations themselves."""
    return tuple(entry for entry in picture.entries.values() if builtins_of(entry))


def readers(region: str) -> dict[str, tuple[str, ...]]:
    """Names of users' views by the built-ins that they name themselves."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in views_over_builtins(snapshot.current(region)):
        for name in builtins_of(entry):
            found[name] = (*found.get(name, ()), dotted(entry.path))
    return found


def builtins_of(entry: Entry) -> tuple[str, ...]:
    """Names of the built-ins that a view's definition names."""
    if entry.kind != "view" or not any(schema in entry.create_sql for schema in SYSTEM_SCHEMAS):
        return ()
    try:
        tables = tables_of(view_query(entry.create_sql))
    except HeadraceError:
        return ()
    parts = [parts_of(table) for table in tables]
    found = [".".join(one[-2:]) for one in parts if one[-2:-1] and one[-2] in SYSTEM_SCHEMAS]
    return tuple(dict.fromkeys(found))


def _problem(entry: Entry, picture: Picture, names: dict[str, set[str]]) -> str:
    for name in builtins_of(entry):
        if name not in names:
            return f"it reads {name}, which is not in this release"
    try:
        relation = described(entry, picture)
    except StatementError as error:
        return f"it would not work any more: {error.message}"
    if len(relation.columns) != len(entry.relation.columns):
        return f"it would have {len(relation.columns)} columns"
    return ""


class _Builtins:
    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        found = lookup(parts)
        return None if found is None else Resolved(found.id, "system", found.relation)


def described(entry: Entry, picture: Picture) -> Relation:
    """The columns of a view over built-ins as this release answers it; raises StatementError."""
    builtins: Names = _Builtins()
    scope = Scope(picture, SYSTEM_ROLE, entry.path[0], (entry.path[1],))
    names = ReadableNames(scope, builtins)
    session = system.Session(database=entry.path[0])
    query = view_query(entry.create_sql).copy().limit(0)
    return system.run(query, picture.region, session, names).relation


def prepare(region: str, wanted: tuple[Declared, ...] | None = None) -> Prepared:
    """Bring a region's built-ins to this release; called before anything serves.

    Nothing is written when nothing changed. Raises InvalidStatement when a view is in the way or
    a newer release has served the region; then nothing is changed.
    """
    prepared = look(region, wanted)
    if prepared.blockers:
        first = prepared.blockers[0]
        message = f"region {region} cannot be started: {first.name}: {first.problem}"
        told = "; ".join(f"{one.name}: {one.problem}" for one in prepared.blockers[1:6])
        raise InvalidStatement(message, detail=told or None, hint=first.remedy, sqlstate="55000")
    with transaction.atomic():
        row = Region.objects.select_for_update().get(name=region)
        place = _place(row)
        if prepared.plan.changes:
            _write(row, place, prepared)
        for one in prepared.plan.kept:
            BuiltinRelation.objects.filter(region=row, name=one.name).exclude(
                needs=list(one.needs)
            ).update(needs=list(one.needs))
        if place.release != RELEASE:
            place.release = RELEASE
            place.save(update_fields=["release"])
    return prepared


def prepare_all() -> tuple[Prepared, ...]:
    """Bring all regions to this release, or none; see `prepare`."""
    with transaction.atomic():
        return tuple(prepare(name) for name in Region.objects.values_list("name", flat=True))


def _place(region: Region) -> RegionPlace:
    provider, _, place = region.name.partition("/")
    found, _ = RegionPlace.objects.get_or_create(
        region=region, defaults={"provider": provider, "place": place or provider}
    )
    return found


def _write(row: Region, place: RegionPlace, prepared: Prepared) -> None:
    plan = prepared.plan
    for one in plan.drops:
        BuiltinRelation.objects.filter(region=row, name=one.name).delete()
    rows = [
        BuiltinRelation(
            region=row,
            name=one.name,
            kind=one.kind,
            gid=one.id,
            oid=one.oid,
            fingerprint=one.fingerprint,
            columns=[list(column) for column in one.columns],
            needs=list(one.needs),
        )
        for one in plan.creates
    ]
    BuiltinRelation.objects.bulk_create(rows, batch_size=500)
    if plan.creates:
        place.next_builtin = 1 + max(int(one.id[1:]) for one in plan.creates)
        place.save(update_fields=["next_builtin"])
        if not prepared.first:
            row.next_oid = max(row.next_oid, 1 + max(one.oid for one in plan.creates))
    row.stamp = uuid.uuid4()
    row.revision += 1
    row.save(update_fields=["stamp", "revision", "next_oid"])
    if not prepared.first:
        _keep(row, plan)


def _keep(row: Region, plan: BuiltinPlan) -> None:
    """The migration as one that was applied, with its steps and an audit event for each."""
    steps = steps_of(plan)
    ids = {step.item: step.new_item for step in steps if step.item and step.new_item}
    made = Plan("built-ins", row.name, row.revision, steps, ids)
    migration = store(made, SYSTEM_ROLE)
    now = timezone.now()
    Migration.objects.filter(pk=migration.pk).update(
        state=Migration.State.APPLIED, applied_at=now, expires_at=now, summary=summary(made)
    )
    write_steps(migration, steps)
    region = Region.objects.get(pk=row.pk)
    audit = history.Audit(region, SYSTEM_ROLE, now)
    for step in steps:
        event = {"drop": "drop", "create": "create"}.get(step.action, "alter")
        details = {"name": dotted(step.path), "why": step.why, "migration": f"m{migration.number}"}
        audit.add(event, "builtin", step.new_item or step.item, details)
    audit.write()
    region.save(update_fields=["next_audit"])
    tell(migration, SYSTEM_ROLE, "applied", f"{len(steps)} built-ins", now)
