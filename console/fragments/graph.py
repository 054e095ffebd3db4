"""A directed graph without cycles laid out in columns, left to right; pure.

Every edge goes at least one column to the right. An edge over several columns bends at a place of
its own in each, so that it runs between nodes and never behind one. Lengths are SVG units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

COLUMN = 212
"""Width of a node."""
GAP = 64
"""Between columns of nodes."""
SPACE = 22
"""Between nodes above one another."""
BEND = 10
"""Height that a passing edge takes."""
MARGIN = 12
_SWEEPS = 6


@dataclass(frozen=True)
class Placed:
    """Where a node is: its left upper corner and its height."""

    x: int
    y: int
    height: int

    @property
    def middle(self) -> int:
        """Half way down."""
        return self.y + self.height // 2


@dataclass(frozen=True)
class Route:
    """An edge as the points that it passes, from the right of a node to the left of another."""

    tail: str
    head: str
    points: tuple[tuple[int, int], ...]

    @property
    def path(self) -> str:
        """An SVG path that leaves and enters every point level."""
        (x, y), *rest = self.points
        parts = [f"M{x} {y}"]
        for to_x, to_y in rest:
            middle = (x + to_x) // 2
            parts.append(f"C{middle} {y} {middle} {to_y} {to_x} {to_y}")
            x, y = to_x, to_y
        return " ".join(parts)


@dataclass(frozen=True)
class Layout:
    """All of it, and how large it is."""

    width: int
    height: int
    nodes: dict[str, Placed]
    routes: tuple[Route, ...]


Edge = tuple[str, str]


def layout(heights: Mapping[str, int], edges: Iterable[Edge]) -> Layout:
    """Lay out nodes of these heights; an edge goes from what is used to what uses it."""
    kept = sorted({(a, b) for a, b in edges if a in heights and b in heights and a != b})
    ranks = _ranks(list(heights), kept)
    chains = {edge: _chain(edge, ranks) for edge in kept}
    links = [link for chain in chains.values() for link in pairwise(chain)]
    columns = _ordered(_columns(ranks, chains), links)
    tall = {name: heights.get(name, BEND) for column in columns for name in column}
    nodes = _placed(columns, tall)
    routes = tuple(_route(edge, chain, nodes) for edge, chain in chains.items())
    real = {name: nodes[name] for name in heights}
    bottom = max((place.y + place.height for place in nodes.values()), default=0)
    width = len(columns) * COLUMN + max(0, len(columns) - 1) * GAP + 2 * MARGIN
    return Layout(width, bottom + MARGIN, real, routes)


def _ranks(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each node; a node nothing leads to stands next to what uses it."""
    into: dict[str, list[str]] = defaultdict(list)
    out: dict[str, list[str]] = defaultdict(list)
    for tail, head in edges:
        into[head].append(tail)
        out[tail].append(head)
    ranks: dict[str, int] = {}

    def rank(name: str) -> int:
        if name not in ranks:
            ranks[name] = 0
            ranks[name] = max((rank(other) + 1 for other in into[name]), default=0)
        return ranks[name]

    for name in names:
        rank(name)
    for name in names:
        if not into[name] and out[name]:
            ranks[name] = min(ranks[other] for other in out[name]) - 1
    return ranks


def _chain(edge: Edge, ranks: Mapping[str, int]) -> list[str]:
    tail, head = edge
    between = range(ranks[tail] + 1, ranks[head])
    return [tail, *(f"{tail}>{head}@{rank}" for rank in between), head]


def _columns(ranks: Mapping[str, int], chains: Mapping[Edge, Sequence[str]]) -> list[list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for name, rank in ranks.items():
        found[rank].append(name)
    for (tail, _), chain in chains.items():
        for step, name in enumerate(chain[1:-1], start=ranks[tail] + 1):
            found[step].append(name)
    return [found[rank] for rank in sorted(found)]


def _ordered(columns: list[list[str]], links: Sequence[Edge]) -> list[list[str]]:
    """Nodes near what they are linked to: each goes to the mean place of its neighbours."""
    left: dict[str, list[str]] = defaultdict(list)
    right: dict[str, list[str]] = defaultdict(list)
    for tail, head in links:
        left[head].append(tail)
        right[tail].append(head)
    for sweep in range(_SWEEPS):
        near, order = (left, 1) if sweep % 2 == 0 else (right, -1)
        at = {name: float(place) for column in columns for place, name in enumerate(column)}
        for column in columns[::order]:
            means = {
                name: sum(at[other] for other in near[name]) / len(near[name])
                if near[name]
                else at[name]
                for name in column
            }
            column.sort(key=lambda name, means=means: means[name])  # type: ignore[misc]
            at |= {name: float(place) for place, name in enumerate(column)}
    return columns


def _placed(columns: Sequence[Sequence[str]], heights: Mapping[str, int]) -> dict[str, Placed]:
    """Every column centred on the tallest one."""
    totals = [sum(heights[n] for n in column) + SPACE * (len(column) - 1) for column in columns]
    tallest = max(totals, default=0)
    nodes: dict[str, Placed] = {}
    for number, (column, total) in enumerate(zip(columns, totals, strict=True)):
        y = MARGIN + (tallest - total) // 2
        for name in column:
            nodes[name] = Placed(MARGIN + number * (COLUMN + GAP), y, heights[name])
            y += heights[name] + SPACE
    return nodes


def _route(edge: Edge, chain: Sequence[str], nodes: Mapping[str, Placed]) -> Route:
    first, last = nodes[chain[0]], nodes[chain[-1]]
    points = [(first.x + COLUMN, first.middle)]
    for name in chain[1:-1]:
        bend = nodes[name]
        points += [(bend.x, bend.middle), (bend.x + COLUMN, bend.middle)]
    points.append((last.x, last.middle))
    return Route(edge[0], edge[1], tuple(points))
