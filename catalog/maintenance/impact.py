"""What applying a replacement would do to the views above its target."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.desired import view_command
from catalog.errors import StatementError, UnknownItem
from catalog.maintenance.kept import views_of
from catalog.plan.definitions import view_query
from catalog.plan.picture import Entry, Picture
from catalog.plan.query_body import ANY
from catalog.plan.readable import ReadableNames
from catalog.plan.scope import Scope
from catalog.planes import plane_of
from catalog.query.compile import compile_query
from catalog.query.names import Names, Resolved
from catalog.snapshot import current
from catalog.time.bounds import bounds
from catalog.time.inputs import inputs_of, view_input
from ingest import engine
from ingest.contract.commands import Query


@dataclass(frozen=True)
class _Swapped:
    """Names as they would be after the apply: the views between are computed, the target is the
    replacement."""

    inner: Names
    target: str
    replacement: Resolved
    between: Mapping[str, exp.Query]

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        """The readable item that the parts stand for, or None."""
        found = self.inner.resolve(parts)
        if found is None:
            return None
        if found.id == self.target:
            return self.replacement
        query = self.between.get(found.id)
        if query is not None:
            return replace(found, kind="view", query=query, names=self)
        return found if found.query is None else replace(found, names=self)


def impact(region: str, replacement: str) -> tuple[tuple[str, int, int, int], ...]:
    """How many rows of every materialized view above a replacement's target would be added,
    removed and changed, at one time: (view id, added, removed, changed), those near it first.

    Raises UnknownItem, StatementError 55000 while there are no rows to compare, IngestError.
    """
    picture = current(region)
    staged = picture.entries.get(replacement)
    if staged is None or staged.kind != "materialized view" or not staged.view.target:
        message = f"unknown replacement '{replacement}'"
        raise UnknownItem(message)
    target = picture.entries[staged.view.target]
    above = _above(picture, target)
    found = bounds(region, picture, [target, staged, *above])
    if found.waiting or found.through is None or found.through < found.since:
        detail = found.waiting[0] if found.waiting else None
        message = f"what {staged.name} would change cannot be told yet"
        raise StatementError(message, detail=detail, sqlstate="55000")
    time = found.through
    names = _Swapped(
        ReadableNames(Scope(picture, staged.owner)),
        target.id,
        Resolved(staged.id, "materialized view", staged.relation),
        {entry.id: view_query(entry.create_sql) for entry in above},
    )
    return tuple((entry.id, *_counts(picture, entry, names, time)) for entry in above)


def _above(picture: Picture, target: Entry) -> list[Entry]:
    """The views that read the target, at any depth, without replacements."""
    closure = reversed(picture.closure([target.id]))
    views = {entry.id for entry in views_of(picture) if not entry.view.target}
    return [entry for entry in closure if entry.id in views and entry.id != target.id]


def _counts(picture: Picture, entry: Entry, names: Names, time: int) -> tuple[int, int, int]:
    tag = f"impact-{uuid.uuid4().hex[:8]}"
    compiled = compile_query(view_query(entry.create_sql), names, ANY)
    new = Query(compiled.sql, inputs_of(compiled.items, picture), time, tag=tag)
    columns = [exp.column(name, quoted=True) for name in entry.relation.names]
    whole = exp.select(*columns).from_(entry.id).sql(dialect="spark")
    old = Query(whole, {entry.id: view_input(entry)}, time, tag=tag)
    kept = view_command(picture, entry)
    named = tuple(name for name in kept.key if name in compiled.relation.names)
    key = named if named == kept.key else ()
    found = engine.compared(plane_of(picture.region), old, new, key)
    return found.added, found.removed, found.changed
