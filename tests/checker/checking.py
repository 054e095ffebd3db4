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
from tests.checker.following import Follower
from tests.checker.shapes import SHAPES
from tests.checker.world import World
from tests.faults.views import patience
from tests.services.product import Product, SqlFailure

MOST = 5
FOLLOWED = 2
"""Views that are subscribed to at once."""
MOMENTS = 10
"""Times at which one view is compared in each check, beside the present of all."""
BACK = 20_000
"""How far (ms) into the past those times reach."""
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
    followers: list[Follower] = field(default_factory=list)

    @property
    def product(self) -> Product:
        """The product that is checked."""
        return self.world.product

    def act(self) -> None:
        """Do something at random."""
        self.wrong += [text for one in self.followers if one.ended for text in one.wrong]
        self.followers = [one for one in self.followers if not one.ended]
        acts: list[Callable[[], None]] = [self.world.write_here, self.world.write_here]
        acts += [self._create] * (2 if len(self.made) < MOST else 0)
        if self.made:
            acts += [self._replace, self._undo]
            acts += [self._apply, self._apply] if self.replacing else [self._replace]
            acts += [self._follow] if len(self.followers) < FOLLOWED else []
            acts += [self._drop] if len(self.made) >= MOST else []
        chosen = self.pick.choice(acts)
        if self._tried(chosen):
            self.done[chosen.__name__.strip("_")] += 1

    def check(self) -> None:
        """Compare every view that has rows with its definition now, one of them at ten earlier
        times too, and what subscribers were told with their views."""
        there = self._hydrated()
        names = [name for name in self.made if name in there]
        chosen = self.pick.choice(names) if names else ""
        for name in names:
            self._tried(partial(self._compare, name, MOMENTS if name == chosen else 0))
        for follower in self.followers:
            self._tried(partial(self._follows, follower))

    def settle(self) -> None:
        """Wait until every view has its rows, and compare them all once more; what never comes
        is wrong."""
        deadline = time.monotonic() + patience()
        missing: set[str] = set(self.made)
        while missing:
            self._tried(lambda: missing.intersection_update(set(self.made) - self._hydrated()))
            if time.monotonic() > deadline:
                self.wrong.append(f"without rows: {missing}")
                return
            time.sleep(1)  # between two looks at what has rows
        self.check()

    def close(self) -> None:
        """Let the subscribers go."""
        for follower in self.followers:
            follower.stop()

    def _hydrated(self) -> set[str]:
        found: set[str] = set()
        self._tried(lambda: found.update(str(name) for (name,) in self._sql(_HYDRATED)))
        return found

    def _compare(self, name: str, earlier: int) -> None:
        now = int(self._sql(f"EXPLAIN TIMESTAMP FOR SELECT * FROM {name}")[0][0] or 0)
        versions = [row for row in self._sql(_VERSIONS) if row[0] == name]
        since = max(min(int(row[1] or 0) for row in versions), now - BACK)
        for moment in (now, *(self.pick.randint(since, now) for _ in range(earlier))):
            there = [r for r in versions if int(r[1] or 0) <= moment < int(r[2] or 2**62)]
            if there:
                text = query_of(str(there[-1][3]))
                self._tried(partial(self._compare_at, name, text, moment))

    def _compare_at(self, name: str, text: str, moment: int) -> None:
        kept = self._rows(f"SELECT * FROM {name} AS OF {moment}")
        whole = self._rows(f"{text} AS OF {moment}")
        self.compared += 1
        if kept != (_wide(whole, len(next(iter(kept)))) if kept else whole):
            self.wrong.append(told(name, moment, text, kept, whole))

    def _follows(self, follower: Follower) -> None:
        """What the follower was told adds up to its view just before its newest progress."""
        self.wrong += follower.wrong
        progress, seen = follower.moment()
        if progress and not follower.ended:
            columns = ", ".join(follower.columns)
            text = f"SELECT {columns} FROM {follower.name}"
            whole = self._rows(f"{text} AS OF {progress - 1}")
            self.done["followed"] += 1
            if seen != whole:
                self.wrong.append(told(follower.name, progress - 1, "SUBSCRIBE", seen, whole))

    def _follow(self) -> None:
        """Subscribe to one more view that nobody follows."""
        followed = {one.name for one in self.followers}
        names = [name for name in self.made if name in self._hydrated() - followed]
        if names:
            self.followers.append(Follower(self.product, self.pick.choice(names)))
            self.followers[-1].start()

    def _create(self) -> None:
        self.counter += 1
        name = f"v{self.counter}"
        query = self.pick.choice(list(SHAPES.values()))
        if self.made and self.pick.random() < 0.3:
            below = self.pick.choice(list(self.made))
            query = f"SELECT q.*, 1 AS in_{name} FROM {below} AS q"
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


def _wide(rows: Rows, width: int) -> Rows:
    """Rows of a former definition with the columns that the view has now: they differ at the end
    alone, by what a replacement added or an undo took away."""
    found: Rows = Counter()
    for row, count in rows.items():
        found[(*row, *[None] * (width - len(row)))[:width]] += count
    return found


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
