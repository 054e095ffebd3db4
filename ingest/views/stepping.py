"""A step: the view's changes from its last step to a time, as one commit on its changes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal, NoReturn

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ingest import delta, spark
from ingest.contract.plane import Plane
from ingest.contract.views import Step, View
from ingest.errors import IngestError, Terminal, Transient
from ingest.feeds import failpoint
from ingest.tables import (
    activity,
    collection,
    handed,
    keyed_near,
    net,
    view_hidden,
    view_near,
    view_rows,
    view_tail,
    view_versions,
)
from ingest.tables.handed import Hand
from ingest.tables.net import Net
from ingest.tables.view_versions import Hidden, Known, StepCommit
from ingest.views import frames, incremental, incremental_top, partials, whole
from ingest.views.incremental_folds import Size
from ingest.views.incremental_held import again
from ingest.views.near import Near

How = Literal["incremental", "recompute"]
_FEW = 200_000
_SMALL = 500_000
"""So many changed rows, and their keys, may be sent to every task whole."""


@dataclass(frozen=True)
class Span:
    """What a step is to do: the view holds everything up to `last`, its inputs did not change
    until `after`, and it is brought to `upto` (ms). `changed` are names of inputs, `rows` at most
    how many rows of changes each has. `hidden`: what the shard has behind the view's columns."""

    known: Known
    last: int
    after: int
    upto: int
    changed: tuple[str, ...]
    rows: Mapping[str, int]
    hidden: Hidden | None


def step(plane: Plane, view: View, upto: int, since: int = 0) -> Step:
    """Bring the view to `upto` (ms); see `ingest.engine.step_view`."""
    known = view_versions.require(plane, view.shard)
    if upto <= known.time:
        return Step(known.time, known.time, how="nothing")
    span = _span(plane, view, known, max(known.time, min(since, upto)), upto)
    if view.constant or not span.changed:
        return Step(upto, span.after, how="nothing")
    reason = ""
    if view.root.kind != "recompute":
        try:
            return _commit(plane, view, span, "incremental")
        except _Impossible as impossible:
            reason = str(impossible)
    return replace(_commit(plane, view, span, "recompute"), reason=reason)


class _Impossible(Exception):
    """The step cannot be made of the inputs' changes; says why."""


def _span(plane: Plane, view: View, known: Known, start: int, upto: int) -> Span:
    found = {
        name: activity.between(plane, source, start, upto) for name, source in view.inputs.items()
    }
    times = [one.times[0] for one in found.values() if one.times]
    gone = any(one.gone for one in found.values())
    after = start if gone else min(times, default=upto + 1) - 1
    changed = tuple(name for name, one in found.items() if one.times)
    rows = {name: one.rows for name, one in found.items()}
    hidden = partials.hidden_of(view, known)
    return Span(known, known.time, after, upto, changed, rows, hidden)


def _commit(plane: Plane, view: View, span: Span, how: How) -> Step:
    """Write the step. Raises Transient when another maintainer's came first."""
    name = uuid.uuid4().hex
    wide = span.hidden is not None
    commit = StepCommit(name, span.known.step, span.upto, span.after, how, wide)

    def work(live: SparkSession) -> None:
        _write(plane, live, view, (span, commit))

    try:
        spark.run(plane, work, "views", repeat=False)
    except IngestError as error:
        if _found(plane, view, name) is None:
            _give_up(error, how)
    failpoint.hit("view step written")
    done = _found(plane, view, name)
    if done is None:
        raise Transient("another maintainer was faster with the view", sqlstate="40001")
    return done


def _give_up(error: IngestError, how: How) -> NoReturn:
    """History that is gone, or a query that fails only as it is followed, is computed again."""
    hopeless = isinstance(error, (Transient, Terminal)) or error.sqlstate == "57014"
    if how == "incremental" and not hopeless:
        raise _Impossible(": ".join(filter(None, (error.message, error.detail)))) from error
    raise error


def _write(plane: Plane, live: SparkSession, view: View, what: tuple[Span, StepCommit]) -> None:
    span, commit = what
    wide = partials.widened(view, span.hidden)
    path = delta.handed_path(plane, view.shard)
    with handed.files(live, path) as hand, frames.holder(live, hand) as keep:
        if commit.how == "incremental":
            changes = _followed(plane, keep, view, span, hand)
        else:
            changes = _recomputed(plane, live, view, span)
        failpoint.hit("view computing")
        kept = view_rows.stored(changes, wide.relation, commit.time, commit.step)
        delta.append(kept, delta.changes_path(plane, view.shard), commit.to_json())


def _followed(plane: Plane, keep: frames.Holder, view: View, span: Span, hand: Hand) -> DataFrame:
    """The step made of its inputs' changes. Inputs that did not change are read only once, and
    changes that are looked at once are not computed before."""
    live = keep.live
    wide = partials.widened(view, span.hidden)
    used, uses = incremental.used(wide.root), incremental.uses(wide.root)
    new, old = _sides(plane, live, view, span)
    moves: dict[str, Net] = {}
    near = _near(plane, hand, view, span, moves)
    for name in span.changed:
        source = view.inputs[name]
        columns = frames.only(source.relation, used.get(name))
        once = uses[name] == 1
        times = (span.after, span.upto)
        among = incremental_top.keys(wide.root, name, source.key, near)
        found = net.of(
            plane, live, source, times, columns.names, raw=once, send=keep.send, among=among
        )
        lazily = once and not found.ready
        moved = found if lazily else keep.net(found, columns, span.rows[name])
        if moved is not None:
            moves[name] = moved
    if not moves:
        return view_rows.nothing(live, wide.relation)
    changed = frames.Inputs(moves, lambda name: moves[name].rows)
    size = _size(sum(span.rows.values()))
    stored = partial(own, plane, live, view, span)
    made = incremental.difference(live, wide.root, old, new, changed, stored, size=size, near=near)
    typed = frames.typed_changes(made.rows, wide.relation)
    return typed if made.net else _consolidated(typed, view, span.hidden)


def _near(plane: Plane, hand: Hand, view: View, span: Span, moves: Mapping[str, Net]) -> Near:
    """The view's own rows; see `view_near`. `moves` may still be without the changes."""
    hidden = span.hidden or _keyed(view, span)
    also = hidden or Hidden((), (), (), ())

    def rows(keys: pa.Table) -> pa.Table | None:
        if hidden is None:
            return None
        return view_near.rows(plane, span.known, view.relation, hidden, keys)

    @cache
    def every() -> pa.Table | None:
        return view_near.every(plane, span.known, view.relation)

    def frame(found: pa.Table) -> DataFrame:
        return hand(found, view_hidden.wide(view.relation, also)).coalesce(1)

    def groups(found: pa.Table, kinds: StructType) -> DataFrame:
        return again(hand.live, found, kinds, hand.plain).coalesce(1)

    def look(name: str, keys: pa.Table, columns: Sequence[str]) -> pa.Table | None:
        source = view.inputs[name]
        if name in span.changed or set(keys.column_names) != set(source.key):
            return None
        asked = keys.select(list(source.key))
        return keyed_near.rows(hand.live, plane, source, span.upto, asked, columns)

    relations = tuple((name, source.relation) for name, source in view.inputs.items())
    made_of = (view.shard, view.relation, hidden, relations)
    keyed = hidden is not None
    return Near(rows, every, frame, groups, moves, made_of, look, len(also.names), keyed)


def _keyed(view: View, span: Span) -> Hidden | None:
    """Nothing hidden, beside the key of a view whose rows are stored as they are; None where they
    are not, or where it has no key."""
    base = span.known.bases[-1]
    plain = base.commit.hidden is None and span.known.columns == len(view.relation.columns)
    if not plain or not view.root.output_key:
        return None
    places = tuple(view.root.columns.index(name) for name in view.root.output_key)
    return Hidden((), (), (), places)


def _sides(
    plane: Plane, live: SparkSession, view: View, span: Span
) -> tuple[frames.Inputs, frames.Inputs]:
    """The inputs at the step's end and at its beginning, those alike that did not change."""

    def at(name: str, time: int) -> DataFrame:
        return collection.at(plane, live, view.inputs[name], time)

    new = frames.Inputs(view.inputs, lambda name: at(name, span.upto))
    old = frames.Inputs(
        view.inputs, lambda name: at(name, span.after) if name in span.changed else new[name]
    )
    return new, old


def _size(rows: int) -> Size:
    if rows <= _FEW:
        return "few"
    return "small" if rows <= _SMALL else "large"


def _consolidated(changes: DataFrame, view: View, hidden: Hidden | None) -> DataFrame:
    names = view.relation.names
    if hidden is None:
        return view_rows.net(changes, names)
    return view_hidden.net(changes, names, hidden.names)


def _recomputed(plane: Plane, live: SparkSession, view: View, span: Span) -> DataFrame:
    new = whole.rows(plane, live, partials.widened(view, span.hidden), span.upto)
    both = view_rows.both(new, own(plane, live, view, span))
    return _consolidated(both, view, span.hidden)


def own(plane: Plane, live: SparkSession, view: View, span: Span) -> DataFrame:
    """The rows that the view holds after its last step, with hidden columns where there are."""
    if span.hidden is not None:
        return view_hidden.newest(plane, live, span.known, view.relation, span.hidden)
    return view_rows.of_shard(plane, live, (view.shard, view.relation, view.key), span.last)


def _found(plane: Plane, view: View, name: str) -> Step | None:
    """The step of that id as the data has it; None when it is void or not there."""
    known = view_versions.require(plane, view.shard)
    for made in reversed(known.steps):
        if made.commit.step == name:
            added, removed = view_tail.counts(plane, view.shard, [made])
            how: How = "recompute" if made.commit.how == "recompute" else "incremental"
            return Step(made.time, made.commit.after, added, removed, how)
    return None
