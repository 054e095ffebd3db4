"""Tables that a test changes by hand, views over them, and what both have at a time."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot

from catalog.query.compile import compile_view
from catalog.query.names import Resolved
from ingest import engine
from ingest.contract.commands import Input, Query, Segment
from ingest.contract.plane import Plane
from ingest.contract.relation import Column, Relation
from ingest.contract.types import Type
from ingest.contract.views import Block, Hydration, Step, View
from tests.ingest.views.shapes import TABLES

Rows = Counter[tuple[Any, ...]]


def relation(*columns: tuple[str, str], key: tuple[str, ...] = ()) -> Relation:
    return Relation(tuple(Column(name, Type.parse(kind)) for name, kind in columns), key)


def name() -> str:
    return f"v{uuid.uuid4().hex[:10]}"


def recompute(sql: str, *inputs: str) -> Block:
    return Block("recompute", sql, dict(zip(inputs, inputs, strict=True)))


@dataclass
class Table:
    """A plain table under test."""

    plane: Plane
    relation: Relation
    shard: str = field(default_factory=name)

    def __post_init__(self) -> None:
        engine.create_table(self.plane, self.shard, self.relation, 1)

    @property
    def input(self) -> Input:
        return Input(self.shard, self.shard, self.relation, key=self.relation.key)

    def insert(self, values: str, time: int) -> None:
        sql = " ".join(("select * from values", values))
        engine.insert(self.plane, self.input, Query(sql, {}, time), time)

    def delete(self, where: str | None, time: int) -> None:
        engine.delete(self.plane, self.input, where, time)

    def update(self, assignments: dict[str, str], where: str | None, time: int) -> None:
        engine.update(self.plane, self.input, assignments, where, time)


def tables(plane: Plane) -> dict[str, Table]:
    """`t`, `u` and `w` of the shapes."""
    shapes = zip("tuw", TABLES.values(), strict=True)
    return {known_as: Table(plane, shape) for known_as, shape in shapes}


@dataclass(frozen=True)
class _Names:
    inputs: Mapping[str, Input]

    def resolve(self, parts: tuple[str, ...]) -> Resolved | None:
        found = self.inputs.get(parts[-1])
        return Resolved(parts[-1], "table", found.relation) if found else None


def over(sql: str, inputs: Mapping[str, Input]) -> View:
    """A view of a query over inputs by their names in it, cut into blocks as the catalog does."""
    query = compile_view(sqlglot.parse_one(sql, read="postgres"), _Names(inputs))
    given = {inside: inputs[item] for inside, item in query.inputs.items()}
    return View("v", name(), query.relation, given, query.block, query.key)


def view(shape: Relation, root: Block, key: tuple[str, ...] = (), **inputs: Input) -> View:
    shard = name()
    return View(shard, shard, shape, inputs, root, key)


def as_input(*versions: tuple[View, int]) -> Input:
    """A view whose definitions came into force at those times; the last has its columns."""
    last = versions[-1][0]
    segments = tuple(Segment(one.shard, since) for one, since in versions)
    return Input(last.item, last.shard, last.relation, key=last.key, segments=segments)


def hydrate(plane: Plane, made: View, time: int) -> Step:
    return engine.hydrate_view(plane, made, time, f"hydrate-{made.shard}", ignore)


def ignore(_: Hydration) -> None:
    """Progress that nobody looks at."""


def rows(plane: Plane, source: Input, at: int) -> Rows:
    found = engine.read(plane, Query("select * from u1", {"u1": source}, at)).data
    return counted(found.to_pylist())


def truth(plane: Plane, made: View, at: int) -> Rows:
    """What the view's query gives at a time."""
    found = engine.read(plane, Query(made.root.sql, made.inputs, at)).data
    return counted(found.to_pylist())


def follow(plane: Plane, view: View, times: Sequence[int]) -> None:
    """Step the view to each time: incrementally, and then it holds what its query gives."""
    for upto in times:
        step = engine.step_view(plane, view, upto)
        assert (step.how, step.reason) == ("incremental", "")
        assert rows(plane, as_input((view, 0)), upto) == truth(plane, view, upto)


def changes(plane: Plane, source: Input, after: int, upto: int) -> Rows:
    """Net changes; those of one time must be consolidated."""
    net: Rows = Counter()
    seen: set[tuple[Any, ...]] = set()
    for row in engine.changes(plane, source, after, upto).data.to_pylist():
        *cells, time, diff = row.values()
        place = (*key_of(cells), time)
        assert diff
        assert after < time <= upto
        assert place not in seen
        seen.add(place)
        net[key_of(cells)] += diff
    return nonzero(net)


def added(start: Rows, net: Rows) -> Rows:
    result: Rows = Counter(start)
    for row, diff in net.items():
        result[row] += diff
    return nonzero(result)


def nonzero(found: Rows) -> Rows:
    return Counter({row: count for row, count in found.items() if count})


def counted(found: list[dict[str, Any]]) -> Rows:
    return Counter(key_of(list(row.values())) for row in found)


def key_of(cells: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(cell) if isinstance(cell, list) else cell for cell in cells)
