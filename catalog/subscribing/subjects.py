"""What can be followed, and how its changes are found."""

from __future__ import annotations

import datetime as dt
import time as clock
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from catalog import snapshot
from catalog.errors import StatementError
from catalog.names import Path, dotted
from catalog.plan.picture import Entry, Picture
from catalog.planes import plane_of
from catalog.query.binder import Moment
from catalog.query.compile import MaintainedQuery, compile_query
from catalog.query.names import Names
from catalog.subscribing.changes import consolidated, in_order, less, put_together
from catalog.time.bounds import bounds
from catalog.time.inputs import input_of
from catalog.time.moments import Wanted
from catalog.time.oracle import newest_time, next_time
from catalog.time.placing import Placing
from ingest import engine
from ingest.contract.commands import Input, Query
from ingest.contract.relation import Relation
from ingest.contract.views import View

_SOON = 5.0
TICK = 1000
"""Milliseconds after which time goes on for what only statements and the clock change."""


class Subject(Protocol):
    """Something whose rows change; those with an equal `identity` have equal changes.

    `columns` are its rows' names and types. `exact`: every change has its own time, so that any
    part of them can be taken; otherwise changes are known from one step to the next only.
    `sealed`: nothing can change.
    """

    @property
    def region(self) -> str:
        """The region whose catalog it is in."""

    @property
    def identity(self) -> Hashable:
        """What makes two of them the same."""

    @property
    def title(self) -> str:
        """What is shown to operators."""

    @property
    def items(self) -> tuple[str, ...]:
        """Ids of the items that it is made from."""

    @property
    def columns(self) -> Relation:
        """Its rows' columns."""

    @property
    def exact(self) -> bool:
        """Whether any part of its changes can be taken."""

    @property
    def sealed(self) -> bool:
        """Whether nothing can change."""

    @property
    def shares(self) -> bool:
        """Whether one reader's snapshot is another's."""

    def through(self) -> int:
        """The time (ms) through which its changes are known.

        Raises HeadraceError when there will be no more: it was dropped, or has failed.
        """

    def changes(self, after: int, upto: int) -> pa.Table | None:
        """What changed with `after` < time <= `upto`; None, uncomputed, when nothing did."""


@dataclass(frozen=True)
class Recorded:
    """A table or maintained view, whose changes are kept beside it.

    `rows` gives what it is at a time (ms), where its changes do not say: between two steps.
    """

    region: str
    item: str
    path: Path
    columns: Relation
    rows: Callable[[int], pa.Table] = field(compare=False)
    exact: bool = True
    sealed: bool = False
    shares: bool = True

    @property
    def identity(self) -> Hashable:
        """Item and columns: who began with fewer columns keeps those."""
        return self.region, self.item, self.columns.columns

    @property
    def title(self) -> str:
        """The item's full name."""
        return dotted(self.path)

    @property
    def items(self) -> tuple[str, ...]:
        """Just it."""
        return (self.item,)

    def through(self) -> int:
        """See `Subject`; an undo may take a column away that an apply had added."""
        there = _entry(self.region, self.item, self.path).relation.names
        gone = [name for name in self.columns.names if name not in there]
        if gone:
            message = f'subscribe has been terminated because column "{gone[0]}" of'
            message += f' "{self.path[-1]}" is not there any more'
            hint = "Subscribe again, in the columns that there are now."
            raise StatementError(message, hint=hint, sqlstate="42703")
        return _through(self.region, ((self.item, self.path),))

    def changes(self, after: int, upto: int) -> pa.Table | None:
        """See `Subject`."""
        picture = snapshot.current(self.region)
        source = input_of(_entry(self.region, self.item, self.path), picture)
        plane = plane_of(self.region)
        if not engine.inputs_changed(plane, (source,), after, upto):
            return None
        if source.segments and not engine.view_exact(plane, source, after, upto):
            return in_order(consolidated(less(self.rows(upto), self.rows(after), upto)))
        found = engine.changes(plane, source, after, upto)
        places = [found.relation.names.index(name) for name in self.columns.names]
        width = len(found.relation.columns)
        table = put_together([found.data.column(at) for at in (*places, width - 2, width - 1)])
        return in_order(consolidated(table) if len(places) < width - 2 else table)


@dataclass(frozen=True)
class Computed:
    """A query, whose changes are what it gives at one time less what it gave before.

    `kept` is the query in blocks, None when its rows change with the clock alone. `reads` are
    ids and names of all items in it, `data` the ids of those whose rows it reads.
    """

    region: str
    query: exp.Query = field(compare=False)
    names: Names = field(compare=False)
    text: str
    columns: Relation
    reads: tuple[tuple[str, Path], ...]
    data: tuple[str, ...]
    kept: MaintainedQuery | None = field(compare=False)
    exact: bool = False
    shares: bool = True

    @property
    def identity(self) -> Hashable:
        """The text in Spark's words, whose names are items' ids."""
        return self.region, self.text

    @property
    def title(self) -> str:
        """The query."""
        return self.query.sql(dialect="postgres")

    @property
    def items(self) -> tuple[str, ...]:
        """What it reads, views too."""
        return tuple(item for item, _ in self.reads)

    @property
    def sealed(self) -> bool:
        """Whether it reads nothing, not even the clock."""
        return not self.data and self.kept is not None

    def through(self) -> int:
        """See `Subject`."""
        return _through(self.region, self.reads, self.data)

    def changes(self, after: int, upto: int) -> pa.Table | None:
        """See `Subject`."""
        picture = snapshot.current(self.region)
        inputs = self._inputs(self.data, picture)
        plane, kept = plane_of(self.region), self.kept
        if kept is not None and not engine.inputs_changed(plane, inputs, after, upto):
            return None
        old, new = self._names_at(after, picture), self._names_at(upto, picture)
        if kept is not None and old is self.names and new is self.names:
            found = engine.view_changes(plane, self._view(kept, inputs), after, upto)
        else:
            before, now = self._at(after, old, picture), self._at(upto, new, picture)
            found = engine.query_changes(plane, before, now)
        return in_order(put_together(found.data.columns))

    def _view(self, kept: MaintainedQuery, inputs: dict[str, Input]) -> View:
        """The query as a view without data; its columns are named by place."""
        columns = [replace(c, name=f"c{place}") for place, c in enumerate(self.columns.columns)]
        named = {name: inputs[item] for name, item in kept.inputs.items()}
        return View("", "", Relation(tuple(columns)), named, kept.block)

    def _names_at(self, time: int, picture: Picture) -> Names:
        """The query's names, as views' definitions where their rows are not exact at a time."""
        if all(picture.entries[item].kind != "materialized view" for item in self.data):
            return self.names
        return Placing(picture, self.query, self.names).find(Wanted(0, time, _SOON)).names

    def _at(self, time: int, names: Names, picture: Picture) -> Query:
        compiled = compile_query(self.query, names, moment_of(time))
        return Query(compiled.sql, self._inputs(compiled.items, picture), time)

    def _inputs(self, items: Iterable[str], picture: Picture) -> dict[str, Input]:
        """Inputs under the ids that the query knows them by."""
        paths = dict(self.reads)
        return {
            item: input_of(
                _entry(self.region, item, paths[item]) if item in paths else picture.entries[item],
                picture,
            )
            for item in sorted(items)
        }


def moment_of(time: int) -> Moment:
    """mz_now() and now() at a time (ms)."""
    return Moment(time, dt.datetime.fromtimestamp(time / 1000, tz=dt.UTC))


def _entry(region: str, item: str, path: Path) -> Entry:
    """The item, or the table that a migration has given a source's rows and name to.

    Raises StatementError when it was dropped.
    """
    picture = snapshot.current(region)
    entry = picture.entries.get(item)
    if entry is not None and entry.kind == "source" and not entry.fed:
        named = picture.by_path.get(path)
        if named is not None and named.fed and named.table.source == item:
            return named
    if entry is None:
        name = ".".join(f'"{part}"' for part in path)
        message = f"subscribe has been terminated because underlying relation {name} was dropped"
        raise StatementError(message, sqlstate="42P01")
    return entry


def _through(
    region: str, reads: Iterable[tuple[str, Path]], data: tuple[str, ...] | None = None
) -> int:
    """How far all of the items are complete, 0 while one of them is not readable.

    Raises StatementError for one that was dropped or whose query fails, Terminal for one that
    has failed.
    """
    found_by = {item: _entry(region, item, path) for item, path in reads}
    entries = [one for item, one in found_by.items() if data is None or item in data]
    found = bounds(region, snapshot.current(region), entries)
    for view in found.views.values():
        if view.error is not None:
            raise view.error
    through = newest_time(region) if found.through is None else found.through
    if all(entry.kind == "table" and not entry.table.source for entry in entries):
        tick(region, through)
    return 0 if found.waiting else through


def tick(region: str, through: int) -> None:
    """Let time go on where only statements and the clock change rows."""
    if clock.time_ns() // 1_000_000 - through > TICK and newest_time(region) <= through:
        next_time(region)
