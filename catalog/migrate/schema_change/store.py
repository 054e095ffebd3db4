"""Switches as rows: begun, gone on with, given up, with what happened to each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from catalog import history, snapshot
from catalog.drift import drift_of
from catalog.errors import InvalidStatement, UnknownItem
from catalog.migrate.reads import EventRow
from catalog.migrate.schema_change.names import checked, chosen, readers
from catalog.migrate.schema_change.plan import Change, Planner, Running, Step
from catalog.migrate.store import known_region
from catalog.models import (
    ExportProgress,
    Region,
    SchemaChange,
    SchemaChangeEvent,
    SourceReference,
    TableDetails,
    ViewProgress,
)
from catalog.names import Path, dotted
from ingest.errors import HeadraceError

Run = Callable[[str], None]
"""Runs a text of statements as the user who asked; raises HeadraceError."""


@dataclass(frozen=True)
class ChangeRow:
    """A switch with its steps as they are now. `back` is what gives it up; `next` in words."""

    id: str
    region: str
    table: str
    name: str
    state: str
    drift: tuple[str, ...]
    user: str
    started_at: dt.datetime
    finished_at: dt.datetime | None
    error: str
    hint: str
    steps: tuple[Step, ...]
    back: tuple[str, ...]
    others: tuple[str, ...]
    events: tuple[EventRow, ...] = ()

    @property
    def current(self) -> Step | None:
        """The first step that is not done, None when all are or it was given up."""
        if self.state != SchemaChange.State.OPEN:
            return None
        return next((step for step in self.steps if not step.done), None)

    @property
    def next(self) -> str:
        """What to do now, for an operator at night."""
        step = self.current
        if step is None:
            return "Nothing: it is " + self.state + "."
        if step.error:
            return f"{step.name} has failed: {step.error}. Correct that, or give it up."
        return _NEXT[step.kind].format(step.name)


_NEXT = {
    "table": "Make {} beside the old table.",
    "snapshot": "Wait until {} is running.",
    "view": "Make {} beside the old view.",
    "replacement": "Make {}; where its query names a column that is gone, give another one.",
    "compare": "Wait until {} is hydrated, and look at every row that it would change.",
    "apply": "Apply the new definition of {}, if its rows are as they should be.",
    "retire": "Let the new table take the name {}; the old one goes.",
}


def begin(region: str, table: str, user: str) -> ChangeRow:
    """Begin the switch of a table (by id) to a new one on the same reference; nothing is made yet.

    Again the one that is open is found. Raises InvalidStatement for what is not fed from
    upstream, and UnknownItem.
    """
    known_region(region)
    picture = snapshot.current(region)
    if table not in picture.entries:
        message = f'unknown table "{table}"'
        raise UnknownItem(message)
    entry = checked(picture, table)
    names = {item: list(path) for item, path in chosen(picture, table).items()}
    with transaction.atomic():
        row = Region.objects.select_for_update().get(name=region)
        mine = SchemaChange.objects.filter(region=row)
        open_ = mine.filter(table=table, state=SchemaChange.State.OPEN).first()
        if open_ is None:
            newest = mine.aggregate(Max("number"))["number__max"] or 0
            open_ = SchemaChange.objects.create(
                region=row,
                number=newest + 1,
                table=table,
                path=list(entry.path),
                names=names,
                drift=list(_drift(region, table)),
                user=user,
                started_at=timezone.now(),
            )
            tell(open_, user, "begin", dotted(entry.path))
    return one(region, f"c{open_.number}")


def _drift(region: str, table: str) -> tuple[str, ...]:
    """How the table differs from upstream, as the last look saw it."""
    row = TableDetails.objects.get(item__region__name=region, item__gid=table)
    return drift_of(row, _reference(row))


def _reference(row: TableDetails) -> SourceReference | None:
    named = {"source": row.source_id, "namespace": row.namespace, "name": row.reference}
    return SourceReference.objects.filter(**named).first()


def tell(row: SchemaChange, user: str, event: str, text: str) -> None:
    """A line of its history and an audit event; inside a transaction."""
    now = timezone.now()
    SchemaChangeEvent.objects.create(change=row, at=now, user=user, event=event, text=text)
    region = Region.objects.select_for_update().get(pk=row.region_id)
    audit = history.Audit(region, user, now)
    gid = f"c{row.number}"
    audit.add(event, "schema-change", gid, {"id": gid, "table": row.table, "text": text})
    audit.write()
    Region.objects.filter(pk=region.pk).update(next_audit=F("next_audit") + 1)


def _row(region: str, gid: str) -> SchemaChange:
    number = gid.removeprefix("c")
    rows = SchemaChange.objects.select_related("region")
    found = (
        rows.filter(region__name=region, number=int(number)).first() if number.isdigit() else None
    )
    if found is None:
        message = f'unknown schema change "{gid}"'
        raise UnknownItem(message)
    return found


def one(region: str, gid: str) -> ChangeRow:
    """One of them as it is now; raises UnknownItem."""
    return _told(_row(region, gid))


def changes(region: str) -> tuple[ChangeRow, ...]:
    """All of a region, the newest first."""
    rows = SchemaChange.objects.filter(region__name=region).select_related("region")
    return tuple(_told(row) for row in rows.order_by("-number")[:100])


def _change(row: SchemaChange) -> Change:
    names: dict[str, Path] = {item: _path(parts) for item, parts in row.names.items()}
    return Change(row.table, _path(row.path), names)


def _path(parts: list[str]) -> Path:
    database, schema, name = parts
    return (database, schema, name)


def _told(row: SchemaChange) -> ChangeRow:
    region = row.region.name
    picture = snapshot.current(region)
    open_ = row.state == SchemaChange.State.OPEN
    planner = Planner(_change(row), picture, _running(row)) if open_ else None
    found = readers(picture, row.table)
    known = set(row.names)
    others = [one for one in (*found.views, *found.kept) if one.id not in known]
    return ChangeRow(
        id=f"c{row.number}",
        region=region,
        table=row.table,
        name=dotted(tuple(row.path)),
        state=row.state,
        drift=tuple(row.drift),
        user=row.user,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=row.error,
        hint=row.hint,
        steps=planner.steps() if planner else (),
        back=planner.back() if planner else (),
        others=tuple(dotted(one.path) for one in others),
        events=tuple(
            EventRow(e.at, e.user, e.event, e.text) for e in row.events.order_by("pk")[:200]
        ),
    )


def _running(row: SchemaChange) -> Running:
    exports = ExportProgress.objects.filter(item__region_id=row.region_id)
    views = ViewProgress.objects.filter(item__region_id=row.region_id)
    failed = {"status__in": ("failed", "stalled")}
    errors = dict(exports.filter(**failed).values_list("item__gid", "error"))
    errors |= dict(views.filter(**failed).values_list("item__gid", "error"))
    ready = exports.filter(readable_from__gt=0).values_list("item__gid", flat=True)
    hydrated = views.filter(hydrated=True).values_list("item__gid", flat=True)
    return Running(frozenset(ready), frozenset(hydrated), errors, _columns(row))


def _columns(row: SchemaChange) -> frozenset[str] | None:
    table = TableDetails.objects.filter(item__region_id=row.region_id, item__gid=row.table).first()
    reference = _reference(table) if table is not None else None
    return frozenset(one["name"] for one in reference.columns) if reference else None


def advance(region: str, gid: str, user: str, run: Run, sql: str = "") -> ChangeRow:
    """Do the next step with `run`, or with `sql` in place of its own statement.

    Returns it as it is then. Raises InvalidStatement when there is nothing to do but wait, or
    when `sql` did not do what the step is for; otherwise what the statement raises.
    """
    row = _row(region, gid)
    step = _due(_told(row))
    text = sql.strip() or "; ".join(step.statements)
    try:
        run(text)
        after = one(region, gid)
        if any(s.kind == step.kind and s.item == step.item and not s.done for s in after.steps):
            message = f"the statement did not make {step.name}"
            raise InvalidStatement(message, hint="It has to have that name.")
    except HeadraceError as error:
        _failed(row, user, step, error)
        raise
    with transaction.atomic():
        tell(row, user, step.kind, text)
        ended = all(one.done for one in after.steps)
        _set(row, SchemaChange.State.DONE if ended else SchemaChange.State.OPEN)
    return one(region, gid)


def _due(found: ChangeRow) -> Step:
    """The step to do now; raises InvalidStatement when there is none."""
    step = found.current
    if step is None:
        message = f"schema change {found.id} is {found.state}"
        raise InvalidStatement(message, sqlstate="55000")
    if step.waits:
        message = f"{step.name} is not ready"
        detail = step.error or ("It is computed." if step.kind == "compare" else "It is read.")
        raise InvalidStatement(message, detail=detail, hint=found.next, sqlstate="55000")
    if step.kind == "retire" and found.others:
        message = f"{found.others[0]} reads the old table, and was made since this was begun"
        hint = "Drop it or define it anew; or give this up and begin again."
        raise InvalidStatement(message, hint=hint, sqlstate="2BP01")
    return step


def _failed(row: SchemaChange, user: str, step: Step, error: HeadraceError) -> None:
    with transaction.atomic():
        tell(row, user, "failed", f"{step.kind} {step.name}: {error.message}")
        hint = error.hint or ""
        SchemaChange.objects.filter(pk=row.pk).update(error=error.message, hint=hint)


def _set(row: SchemaChange, state: str) -> None:
    ended = None if state == SchemaChange.State.OPEN else timezone.now()
    SchemaChange.objects.filter(pk=row.pk).update(
        state=state, finished_at=ended, error="", hint=""
    )


def give_up(region: str, gid: str, user: str, run: Run) -> ChangeRow:
    """Take back what was applied and drop what was made; the old table stays as it is.

    Can be asked for again where it failed in the middle. Raises InvalidStatement when it is over.
    """
    row = _row(region, gid)
    found = _told(row)
    if found.state != SchemaChange.State.OPEN:
        message = f"schema change {gid} is {found.state}"
        raise InvalidStatement(message, sqlstate="55000")
    while found.back:
        run(found.back[0])
        left = one(region, gid)
        if left.back == found.back:
            message = f"{found.back[0]} changed nothing"
            raise InvalidStatement(message)
        found = left
    with transaction.atomic():
        tell(row, user, "give up", dotted(tuple(row.path)))
        _set(row, SchemaChange.State.GIVEN_UP)
    return one(region, gid)
