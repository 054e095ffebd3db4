"""Random views over a changing world, and whether each is its query at any time."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from sqlglot import exp

from catalog.sql.nodes.materialized_view import CreateMaterializedView
from catalog.sql.nodes.query import Select
from catalog.sql.parse import parse_one
from catalog.sql.render import render
from tests.checker.shapes import SHAPES
from tests.checker.world import World
from tests.services.product import Product, SqlFailure

MOST = 5
_VERSIONS = (
    "SELECT o.name, v.since, v.until, v.create_sql FROM"
    " mz_internal.mz_materialized_view_versions AS v JOIN mz_objects AS o ON o.id = v.id"
    " ORDER BY v.version"
)
_HYDRATED = (
    "SELECT o.name FROM mz_internal.mz_hydration_statuses AS h"
    " JOIN mz_objects AS o ON o.id = h.object_id WHERE h.hydrated"
)
PASSING = {"55000", "57P03", "57014", "40001", "22023"}
"""What a statement may say while something is not there yet, no more, or was killed."""
Rows = Counter[tuple[str | None, ...]]


@dataclass
class Checker:
    """What was made, what was done to it, and what was found wrong."""

    world: World
    pick: random.Random
    made: dict[str, str] = field(default_factory=dict)
    replacing: dict[str, str] = field(default_factory=dict)
    counter: int = 0
    compared: int = 0
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def product(self) -> Product:
        """The product that is checked."""
        return self.world.product

    def act(self) -> None:
        """Do something at random."""
        acts: list[Callable[[], None]] = [self.world.write_here, self.world.write_here]
        acts += [self._create] * (2 if len(self.made) < MOST else 0)
        if self.made:
            acts += [self._replace, self._apply, self._apply, self._undo]
            acts += [self._drop] if len(self.made) >= MOST else []
        chosen = self.pick.choice(acts)
        if self._tried(chosen):
            self.done[chosen.__name__.strip("_")] += 1

    def check(self) -> None:
        """Compare every view that has rows with its definition, now and at an earlier time."""
        hydrated = {str(name) for (name,) in self._sql(_HYDRATED)}
        for name in [name for name in self.made if name in hydrated]:
            self._tried(partial(self._compare, name))

    def _compare(self, name: str) -> None:
        now = int(self._sql(f"EXPLAIN TIMESTAMP FOR SELECT * FROM {name}")[0][0] or 0)
        versions = [row for row in self._sql(_VERSIONS) if row[0] == name]
        since = min(int(row[1] or 0) for row in versions)
        for moment in (now, self.pick.randint(max(since, now - 8_000), now)):
            there = [r for r in versions if int(r[1] or 0) <= moment < int(r[2] or 2**62)]
            if not there:
                continue
            text = query_of(str(there[-1][3]))
            kept = self._rows(f"SELECT * FROM {name} AS OF {moment}")
            whole = self._rows(f"{text} AS OF {moment}")
            self.compared += 1
            if kept != whole:
                self.wrong.append(told(name, moment, text, kept, whole))

    def _create(self) -> None:
        self.counter += 1
        name = f"v{self.counter}"
        query = self.pick.choice(list(SHAPES.values()))
        if self.made and self.pick.random() < 0.3:
            below = self.pick.choice(list(self.made))
            query = f"SELECT q.*, 1 AS one FROM {below} AS q"
        self._sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
        self.made[name] = query

    def _replace(self) -> None:
        self.counter += 1
        name, target = f"r{self.counter}", self.pick.choice(list(self.made))
        inner = self.made[target]
        ways = (
            f"SELECT q.* FROM ({inner}) AS q UNION ALL SELECT q.* FROM ({inner}) AS q",
            f"SELECT q.* FROM ({inner}) AS q WHERE 1 = 0",
            f"SELECT q.*, 2 AS extra FROM ({inner}) AS q",
            inner,
        )
        way = self.pick.choice(ways)
        self._sql(f"CREATE REPLACEMENT MATERIALIZED VIEW {name} FOR {target} AS {way}")
        self.replacing[name] = target

    def _apply(self) -> None:
        if self.replacing:
            name = self.pick.choice(list(self.replacing))
            target = self.replacing[name]
            self._sql(f"ALTER MATERIALIZED VIEW {target} APPLY REPLACEMENT {name}")
            del self.replacing[name]

    def _undo(self) -> None:
        name = self.pick.choice(list(self.made))
        self._sql(f"ALTER MATERIALIZED VIEW {name} ROLLBACK REPLACEMENT")

    def _drop(self) -> None:
        if self.replacing and self.pick.random() < 0.5:
            name = self.pick.choice(list(self.replacing))
            self._sql(f"DROP MATERIALIZED VIEW {name}")
            del self.replacing[name]
            return
        name = self.pick.choice(list(self.made))
        self._sql(f"DROP MATERIALIZED VIEW {name} CASCADE")
        left = {str(row[0]) for row in self._sql("SELECT name FROM mz_materialized_views")}
        self.made = {one: text for one, text in self.made.items() if one in left}
        self.replacing = {one: text for one, text in self.replacing.items() if one in left}

    def _tried(self, work: Callable[[], None]) -> bool:
        """Whether it went through; raises for an error that is not a matter of time."""
        try:
            work()
        except SqlFailure as error:
            if error.error.get("code") not in PASSING | {"2BP01", "42601", "42710"}:
                raise
            self.done[f"refused {error.error.get('code')}"] += 1
            return False
        except OSError:
            time.sleep(1)  # web was killed: it is asked again in the next turn
            return False
        return True

    def _rows(self, text: str) -> Rows:
        return Counter(tuple(row) for row in self._sql(text))

    def _sql(self, text: str) -> list[list[str | None]]:
        return self.product.sql(text)


def query_of(create_sql: str) -> str:
    """The query of a stored definition, in one text that AS OF can follow."""
    statement = parse_one(create_sql).statement
    assert isinstance(statement, CreateMaterializedView)
    alias = exp.TableAlias(this=exp.to_identifier("q"))
    inner = exp.Subquery(this=statement.query.copy(), alias=alias)
    return render(Select(exp.select("*").from_(inner)))


def told(name: str, moment: int, text: str, kept: Rows, whole: Rows) -> str:
    """A mismatch in words."""
    extra, missing = list((kept - whole).items())[:3], list((whole - kept).items())[:3]
    return f"{name} at {moment}: kept {extra}, missing {missing}; {text}"
