"""How far each shard may be brought: times shared by everything that hangs together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from catalog.maintenance.kept import Kept

STALLED = 10_000
"""How far (ms) a feed may be behind others before views that do not read it leave it behind."""
Bases = dict[str, frozenset[str]]


def feeds_of(kept: Mapping[str, Kept]) -> frozenset[str]:
    """Ids of the feeds that fill what the shards read."""
    return frozenset(
        source.feed
        for one in kept.values()
        if one.view is not None
        for source in one.view.inputs.values()
        if source.feed
    )


def plain_of(kept: Mapping[str, Kept]) -> frozenset[str]:
    """Ids of the plain tables that the shards read."""
    return frozenset(
        source.item
        for one in kept.values()
        if one.view is not None
        for source in one.view.inputs.values()
        if not source.feed and not source.segments
    )


def below(one: Kept) -> frozenset[str]:
    """The shards of the maintained views that a shard's definition reads."""
    if one.view is None:
        return frozenset()
    return frozenset(source.shard for source in one.view.inputs.values() if source.segments)


def bases_of(kept: Mapping[str, Kept]) -> Bases:
    """The feeds and plain tables that each shard is made from, through other views too."""
    found: Bases = {}

    def visit(shard: str) -> frozenset[str]:
        if shard not in found:
            found[shard] = frozenset()
            one = kept.get(shard)
            own = _own(one) if one is not None else frozenset()
            under = below(one) if one is not None else frozenset()
            found[shard] = own.union(*(visit(other) for other in under))
        return found[shard]

    for shard in kept:
        visit(shard)
    return found


def _own(one: Kept) -> frozenset[str]:
    if one.view is None:
        return frozenset()
    sources = [source for source in one.view.inputs.values() if not source.segments]
    return frozenset(source.feed or source.item for source in sources)


def targets(kept: Mapping[str, Kept], ends: Mapping[str, int], newest: int) -> dict[str, int]:
    """The time (ms) that each shard should be complete through.

    `ends` says through which time each feed and plain table is complete, `newest` is for what
    reads nothing. Shards that share an input, or are each other's, get one time, so that a query
    over several of them finds one at which all are exact. A feed that stands still holds up only
    what reads it.
    """
    bases = bases_of(kept)
    found: dict[str, int] = {}
    for group in groups(kept, bases):
        known = frozenset[str]().union(*(bases[shard] for shard in group))
        latest = max((ends.get(base, 0) for base in known), default=newest)
        late = {base for base in known if ends.get(base, 0) < latest - STALLED}
        shared = min((ends.get(base, 0) for base in known - late), default=newest)
        for shard in group:
            own = [ends.get(base, 0) for base in bases[shard] & late]
            found[shard] = min([shared, *own])
    return found


def groups(kept: Mapping[str, Kept], bases: Bases) -> list[frozenset[str]]:
    """Shards that hang together: by a shared input, or as versions of one view."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for shard, one in kept.items():
        item = one.entry.view.target or one.entry.id
        for other in (*bases[shard], *below(one), f"view {item}"):
            parent[root(shard)] = root(other)
    found: dict[str, set[str]] = defaultdict(set)
    for shard in kept:
        found[root(shard)].add(shard)
    return [frozenset(group) for group in found.values()]
