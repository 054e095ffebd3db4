"""The lineage graph as the server draws it: boxes, edges, and traced columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.http import urlencode

from catalog.reads.lineage import Lineage, LineageItem
from console.fragments.graph import COLUMN, Layout, layout
from console.fragments.places import path_of

HEAD, ROW, FOOT = 38, 20, 6
MOST_NODES, MOST_ROWS = 60, 12
_NAME, _WORD = 25, 26
"""Letters that fit into a node's head, and into one of its rows."""
_KINDS = {"materialized view": "view", "view": "plain view"}


@dataclass(frozen=True)
class NodeRow:
    """A column inside a node; `key` is `u7.name`, `path` traces it."""

    key: str
    name: str
    short: str
    y: int
    path: str
    on: bool
    chosen: bool

    @property
    def text(self) -> int:
        """Where its text stands."""
        return self.y + 14


@dataclass(frozen=True)
class Node:
    """An item as a box; `look` is its CSS class."""

    name: str
    short: str
    kind: str
    note: str
    look: str
    path: str
    x: int
    y: int
    height: int
    rows: tuple[NodeRow, ...]
    more: int
    width: int = COLUMN

    @property
    def inner(self) -> int:
        """Width of a row."""
        return self.width - 2

    @property
    def more_y(self) -> int:
        """Where the count of further columns stands."""
        return HEAD + len(self.rows) * ROW + 14


@dataclass(frozen=True)
class Line:
    """An edge between items; `replaces` leads from a view to a replacement for it."""

    path: str
    replaces: bool


@dataclass(frozen=True)
class Trace:
    """An edge between columns, by their keys."""

    path: str
    tail: str
    head: str
    on: bool


@dataclass(frozen=True)
class Graph:
    """Everything that the template draws; `hidden` items are too far away."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: tuple[Line, ...]
    columns: tuple[Trace, ...]
    upstream: int
    downstream: int
    hidden: int
    untraced: tuple[str, ...]
    chosen: str
    base: str


@dataclass(frozen=True)
class End:
    """A column of another item."""

    item: str
    column: str
    path: str


@dataclass(frozen=True)
class Ends:
    """Where a column comes from and goes to, directly."""

    sources: tuple[End, ...]
    targets: tuple[End, ...]


def graph(found: Lineage, focus: str, base: str, chosen: str) -> Graph:
    """Lay out what is near; `chosen` is a column's key, `base` the address of its page."""
    near = sorted(found.items, key=lambda one: (abs(one.distance), one.item.id))[:MOST_NODES]
    drawn = {one.item.id: one for one in near}
    traced = [edge for edge in found.columns if edge.item in drawn and edge.into in drawn]
    keys = {(f"{e.item}.{e.column}", f"{e.into}.{e.into_column}") for e in traced}
    shown = {gid: _rows_of(one, keys) for gid, one in drawn.items()}
    heights = {gid: _height(one, shown[gid]) for gid, one in drawn.items()}
    places = layout(heights, [edge for edge in found.edges if set(edge) <= drawn.keys()])
    on = _reached(chosen, keys) if chosen else frozenset()
    nodes = tuple(
        _node(one, focus, places, shown[gid], (base, chosen, on)) for gid, one in drawn.items()
    )
    targets = {(one.target, one.item.id) for one in near if one.target}
    lines = tuple(Line(r.path, (r.tail, r.head) in targets) for r in places.routes)
    spots = _spots(drawn, shown, places)
    named = next((_named(one, chosen) for one in near if chosen.startswith(f"{one.item.id}.")), "")
    return Graph(
        places.width,
        places.height,
        nodes,
        lines,
        tuple(_traces(sorted(keys), spots, on)),
        sum(one.distance < 0 for one in found.items),
        sum(one.distance > 0 for one in found.items),
        len(found.items) - len(near),
        tuple(one.item.name for one in near if not one.traced),
        named,
        base,
    )


def _named(one: LineageItem, key: str) -> str:
    return f"{one.item.name}.{key.partition('.')[2]}"


def _rows_of(one: LineageItem, keys: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The columns that a node names: those that take part first, in the item's own order."""
    used = {key for pair in keys for key in pair}
    part = [name for name in one.columns if f"{one.item.id}.{name}" in used]
    rest = [name for name in one.columns if name not in part]
    kept = {*part[:MOST_ROWS], *rest[: max(0, MOST_ROWS - len(part))]}
    return tuple(name for name in one.columns if name in kept)


def _height(one: LineageItem, rows: tuple[str, ...]) -> int:
    more = ROW if len(one.columns) > len(rows) else 0
    return HEAD + len(rows) * ROW + more + (FOOT if rows else 0)


def _node(
    one: LineageItem,
    focus: str,
    places: Layout,
    rows: tuple[str, ...],
    marks: tuple[str, str, frozenset[str]],
) -> Node:
    base, chosen, on = marks
    place = places.nodes[one.item.id]
    look = "focus" if one.item.id == focus else one.item.kind.replace(" ", "-")
    note = {1: "reads it", -1: "read by it"}.get(one.distance, "")
    return Node(
        name=one.item.name,
        short=_cut(one.item.name, _NAME),
        kind="replacement" if one.target else _KINDS.get(one.item.kind, one.item.kind),
        note="this one" if one.item.id == focus else "" if one.target else note,
        look=f"{look} replacement" if one.target else look,
        path=f"/replacements/{one.item.id}" if one.target else path_of(one.item),
        x=place.x,
        y=place.y,
        height=place.height,
        rows=tuple(
            NodeRow(
                key=f"{one.item.id}.{name}",
                name=name,
                short=_cut(name, _WORD),
                y=HEAD + number * ROW,
                path=f"{base}{urlencode({'column': f'{one.item.id}.{name}'})}",
                on=f"{one.item.id}.{name}" in on,
                chosen=f"{one.item.id}.{name}" == chosen,
            )
            for number, name in enumerate(rows)
        ),
        more=len(one.columns) - len(rows),
    )


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


_Spots = Mapping[str, tuple[int, int]]


def _spots(
    drawn: Mapping[str, LineageItem], shown: Mapping[str, tuple[str, ...]], places: Layout
) -> _Spots:
    """Left end and height of every column's row; of the head where a column is not named."""
    found = {}
    for gid, one in drawn.items():
        place = places.nodes[gid]
        rows = {name: number for number, name in enumerate(shown[gid])}
        for name in one.columns:
            down = HEAD + rows[name] * ROW + ROW // 2 if name in rows else HEAD // 2
            found[f"{gid}.{name}"] = (place.x, place.y + down)
    return found


def _traces(keys: Iterable[tuple[str, str]], spots: _Spots, on: frozenset[str]) -> Iterable[Trace]:
    for tail, head in keys:
        if tail in spots and head in spots:
            (x, y), (to_x, to_y) = spots[tail], spots[head]
            x += COLUMN
            middle = (x + to_x) // 2
            path = f"M{x} {y} C{middle} {y} {middle} {to_y} {to_x} {to_y}"
            yield Trace(path, tail, head, tail in on and head in on)


def _reached(chosen: str, keys: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The column, all that it is made from, and all that is made from it."""
    up: dict[str, list[str]] = defaultdict(list)
    down: dict[str, list[str]] = defaultdict(list)
    for tail, head in keys:
        up[head].append(tail)
        down[tail].append(head)
    return frozenset({*_walk(chosen, up), *_walk(chosen, down)})


def _walk(start: str, next_: Mapping[str, list[str]]) -> set[str]:
    seen = {start}
    stack = [start]
    while stack:
        for other in next_.get(stack.pop(), ()):
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen


def ends(found: Lineage, focus: str) -> dict[str, Ends]:
    """Of every column of an item: what it is made from, and what is made from it."""
    items = {one.item.id: one for one in found.items}
    sources: dict[str, list[End]] = defaultdict(list)
    targets: dict[str, list[End]] = defaultdict(list)
    for edge in found.columns:
        if edge.into == focus:
            sources[edge.into_column].append(_end(items[edge.item], edge.column))
        if edge.item == focus:
            targets[edge.column].append(_end(items[edge.into], edge.into_column))
    names = {*sources, *targets}
    return {name: Ends(tuple(sources[name]), tuple(targets[name])) for name in names}


def _end(one: LineageItem, column: str) -> End:
    path = f"/replacements/{one.item.id}" if one.target else path_of(one.item)
    return End(one.item.name, column, path)
