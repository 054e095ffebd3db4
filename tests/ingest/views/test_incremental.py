"""What a view has, and the difference, make what its query gives: shapes by random changes."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from catalog.query.compile import MaintainedQuery
from ingest import spark
from ingest.contract.plane import Plane
from ingest.contract.views import MZ_DIFF
from ingest.tables.schema import spark_schema
from ingest.views import frames, incremental, partials, whole
from tests.ingest.views.shapes import (
    SHAPES,
    TABLES,
    Row,
    Rows,
    maintained,
    moved,
    some_rows,
    step,
)

pytestmark = pytest.mark.spark
WITH_PARTIALS = {
    name: sql for name, sql in SHAPES.items() if maintained(sql).block.partial is not None
}
STEPS = int(os.environ.get("HEADRACE_TEST_STEPS", "2"))


@pytest.fixture(scope="module")
def live(plane: Plane) -> Iterator[SparkSession]:
    session = spark.session(plane)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.conf.unset("spark.sql.shuffle.partitions")


class World:
    """The tables before and after a step, as frames for one query."""

    def __init__(self, live: SparkSession, query: MaintainedQuery, chance: random.Random) -> None:
        self.live, self.query, self.chance = live, query, chance
        self.old = {item: some_rows(chance, item, 14) for item in TABLES}
        self.new = dict(self.old)
        self.changed: dict[str, list[Row]] = {}

    def advance(self) -> None:
        """One step: some of the tables change."""
        self.old = self.new
        chosen = [item for item in TABLES if self.chance.random() < 0.7]
        self.new = {
            item: step(self.chance, item, rows) if item in chosen else rows
            for item, rows in self.old.items()
        }
        noise = {item: list(self.new[item])[:3] for item in chosen}
        self.changed = {
            item: moved(self.chance, self.old[item], self.new[item], noise[item])
            for item in chosen
        }

    def frames(self, rows: dict[str, Rows]) -> dict[str, DataFrame]:
        """The query's inputs."""
        return {
            name: self._frame(list(rows[item].elements()), spark_schema(TABLES[item]))
            for name, item in self.query.inputs.items()
        }

    def moves(self) -> dict[str, DataFrame]:
        """The query's changed inputs, no other columns than matter."""
        used = incremental.used(self.query.block)
        found = {
            name: self._frame(self.changed[item], spark_schema(TABLES[item]) + ", mz_diff bigint")
            for name, item in self.query.inputs.items()
            if item in self.changed
        }
        names = {name: frames.only(TABLES[self.query.inputs[name]], used[name]) for name in found}
        return {
            name: rows.select(*names[name].names, MZ_DIFF).coalesce(1)
            for name, rows in found.items()
        }

    def _frame(self, rows: list[Row], schema: str) -> DataFrame:
        return self.live.createDataFrame(rows, schema)


def collected(frame: DataFrame) -> list[Row]:
    table = frame.toArrow()
    columns = [[_plain(v) for v in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return value.normalize() if isinstance(value, Decimal) else value


def counted(rows: list[Row]) -> Rows:
    return Rows(rows)


@pytest.mark.parametrize("sql", SHAPES.values(), ids=SHAPES)
def test_what_is_kept_is_what_the_query_gives(live: SparkSession, sql: str) -> None:
    _follow(live, maintained(sql), random.Random(sql))


@pytest.mark.parametrize("sql", WITH_PARTIALS.values(), ids=WITH_PARTIALS)
def test_hidden_aggregates_are_kept_too(live: SparkSession, sql: str) -> None:
    query = maintained(sql)
    wide = replace(query, block=partials.root(query.block))
    _follow(live, wide, random.Random(" ".join((sql, "hidden"))))


def _follow(live: SparkSession, query: MaintainedQuery, chance: random.Random) -> None:
    root = query.block
    world = World(live, query, chance)
    first = whole.block(live, root, world.frames(world.new))
    schema = first.schema
    kept = first.toArrow()
    for _ in range(STEPS):
        world.advance()
        old, new, changed = world.frames(world.old), world.frames(world.new), world.moves()
        stored = live.createDataFrame(kept, schema)
        held = partial(live.createDataFrame, kept, schema)
        wanted = whole.block(live, root, new).toArrow()
        after = collected(live.createDataFrame(wanted, schema))
        found = incremental.difference(live, root, old, new, changed, held).rows
        _check(collected(stored), collected(found), after)
        if root.exact:
            alone = incremental.difference(live, root, old, new, changed).rows
            _check(collected(stored), collected(alone), after)
        kept = wanted


def _check(before: list[Row], difference: list[Row], after: list[Row]) -> None:
    found = counted(before)
    for row in difference:
        found[row[:-1]] += int(str(row[-1]))
    assert {row: n for row, n in found.items() if n} == dict(counted(after))
