"""One round: which shards are where they should be already, and which have to be stepped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from catalog.maintenance import refreshing
from catalog.maintenance.graph import below, feeds_of, plain_of, targets
from catalog.maintenance.kept import Kept, Known
from catalog.planes import plane_of
from catalog.time import bounds, closing
from catalog.time.oracle import newest_time
from ingest import engine


@dataclass
class Shard:
    """How far one shard is: complete `through` a time, last stepped to `last`, first readable
    `since` (ms). After a failure at `failed` it waits for its inputs to change, or, when they
    cannot be at fault, until `again` (seconds, monotonic)."""

    kept: Kept
    through: int
    since: int
    last: int
    failed: int = 0
    again: float = 0.0
    pause: float = 0.0
    took: float = 0.0
    rested: float = 0.0
    running: bool = False


@dataclass(frozen=True)
class Work:
    """A shard to step to a time (ms)."""

    shard: str
    upto: int


@dataclass
class Round:
    """What one look at all shards found: new times without work, and work."""

    moved: dict[str, int] = field(default_factory=dict)
    work: list[Work] = field(default_factory=list)


def fed(region: str, kept: Mapping[str, Kept]) -> dict[str, int]:
    """Through which time (ms) each feed is complete that the shards read."""
    feeds = feeds_of(kept)
    return dict.fromkeys(feeds, 0) | bounds.fed_through(region, feeds) if feeds else {}


def times(region: str, kept: Mapping[str, Kept], ends: Mapping[str, int]) -> dict[str, int]:
    """The time (ms) that each shard should be complete through now; `ends` are those of `fed`."""
    newest = newest_time(region)
    ends = dict(ends)
    under_way = closing.pending(region)
    for table in plain_of(kept):
        ends[table] = min(newest, under_way.get(table, newest + 1) - 1)
    return targets(kept, ends, newest)


def look(shards: Mapping[str, Shard], upto: Mapping[str, int], now: float) -> Round:
    """Compare every shard with its time; reads commit files only.

    A shard follows what it reads no further than that is known to be, where "known" is what the
    catalog has, or what this round moves together with it. Work begins with what is furthest
    behind: there are few places, and quick views ask for one in every round.
    """
    found = Round()
    for shard, one in shards.items():
        target = min([upto.get(shard, 0), *_inputs_through(one.kept, shards, found.moved)])
        if one.running or target <= one.through or one.kept.view is None or one.kept.fixed:
            continue
        if _needs_step(one, target):
            ready = min([target, *_inputs_through(one.kept, shards, {})])
            if ready > one.through and _may(one, ready, now):
                found.work.append(Work(shard, ready))
        elif one.failed == 0:
            found.moved[shard] = target
    found.work.sort(key=lambda work: shards[work.shard].through)
    return found


def _inputs_through(
    kept: Kept, shards: Mapping[str, Shard], moved: Mapping[str, int]
) -> Iterable[int]:
    for other in below(kept):
        one = shards.get(other)
        if one is None:
            yield 0
        elif not one.kept.fixed:
            yield moved.get(other, one.through)


def _needs_step(one: Shard, target: int) -> bool:
    view = one.kept.view
    if view is None:
        return False
    options = one.kept.options
    if not refreshing.keeps_up(options):
        return refreshing.due(options, one.since, one.last, target)
    return engine.inputs_changed(plane_of(one.kept.region), view.inputs, one.through, target)


def _may(one: Shard, target: int, now: float) -> bool:
    """Whether the shard has rested from its last step, and is worth another try if it failed."""
    if now < one.rested:
        return False
    if one.failed == 0:
        return True
    if one.again:
        return now >= one.again
    view = one.kept.view
    plane = plane_of(one.kept.region)
    return view is not None and engine.inputs_changed(plane, view.inputs, one.failed, target)


def shard_of(kept: Kept, known: Known) -> Shard | None:
    """Where a shard stands, by the catalog and by its data; None when it has no data."""
    state = engine.view_state(plane_of(kept.region), kept.shard)
    if state is None:
        return None
    return Shard(kept, max(known.through, state.time), known.since or state.since, state.time)
