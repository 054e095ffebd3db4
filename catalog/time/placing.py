"""Where in time a query stands: the time it is read at, and which views it is computed from.

A maintained view is read where its rows are exact. At other times (between two steps, before it
was made, or while it is behind) the query is answered from the view's definition at that time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.errors import InvalidStatement, StatementError
from catalog.plan.picture import Entry, Picture
from catalog.planes import plane_of
from catalog.query.compile import inspect
from catalog.query.names import Names
from catalog.time.bounds import bounds, view_bounds
from catalog.time.exactness import exact
from catalog.time.expansion import Expanding, definition_at
from catalog.time.moments import Behind, Wanted, moment
from ingest import engine


@dataclass(frozen=True)
class Placed:
    """A query's time (ms), its names as it is to be compiled with, and what it then reads."""

    time: int
    names: Names
    inputs: tuple[Entry, ...]


class Placing:
    """Finds the place of one query in one picture."""

    def __init__(self, picture: Picture, query: exp.Query, names: Names) -> None:
        self._picture = picture
        self._query = query
        self._names = names
        self._expanded: dict[str, exp.Query] = {}

    def find(self, wanted: Wanted) -> Placed:
        """The time to read at and the views to expand; waits as `moment` does, and raises so."""
        while True:
            inputs = self._inputs()
            if self._expand(self._early(inputs, wanted), wanted):
                continue
            try:
                time = moment(self._picture.region, self._picture, inputs, wanted)
            except Behind as late:
                time = wanted.as_of or self._target(inputs, wanted)
                wanted = replace(wanted, as_of=time)
                if not self._expand([e for e in inputs if e.id in late.views], wanted):
                    raise
                continue
            inexact = self._inexact(inputs, time)
            if not inexact:
                return Placed(time, self._seen(), tuple(inputs))
            other = None if wanted.as_of is not None else self._other(inputs, time, wanted)
            wanted = replace(wanted, as_of=time if other is None else other)
            if other is None:
                self._expand(inexact, wanted)

    def _seen(self) -> Names:
        return Expanding(self._names, self._expanded) if self._expanded else self._names

    def _inputs(self) -> list[Entry]:
        found = inspect(self._query, self._seen()).items
        return [self._picture.entries[item] for item in sorted(found)]

    def _expand(self, views: list[Entry], wanted: Wanted) -> bool:
        """Compute these views from what they were defined as; whether there were any."""
        time = wanted.as_of or 0
        for entry in views:
            query = definition_at(entry, time)
            try:
                inspect(query, self._seen())
            except StatementError as error:
                message = f"Timestamp ({time}) is not valid for all inputs"
                detail = f'What "{entry.name}" was made from is not there: {error.message}.'
                raise InvalidStatement(message, detail=detail, sqlstate="22023") from error
            self._expanded[entry.id] = query
        return bool(views)

    def _early(self, inputs: list[Entry], wanted: Wanted) -> list[Entry]:
        """The views that have no rows yet for a time that is asked for."""
        views = _views(inputs)
        if not views or wanted.as_of is None:
            return []
        found = view_bounds(self._picture.region, views)
        return [entry for entry in views if found[entry.id].since > wanted.as_of]

    def _target(self, inputs: list[Entry], wanted: Wanted) -> int:
        """The time that a query waited for in vain, which its views' inputs may have reached."""
        found = bounds(self._picture.region, self._picture, inputs)
        return max(wanted.at_least, found.told if wanted.strict else 0)

    def _inexact(self, inputs: list[Entry], time: int) -> list[Entry]:
        views = _views(inputs)
        return [entry for entry in views if not exact(self._picture, entry, time)]

    def _other(self, inputs: list[Entry], time: int, wanted: Wanted) -> int | None:
        """The newest time before `time` at which all views are exact, if that will do."""
        found = bounds(self._picture.region, self._picture, inputs)
        least = max(found.since, wanted.at_least, found.told if wanted.strict else 0)
        times = {view.through for view in found.views.values()}
        for entry in _views(inputs):
            state = engine.view_state(plane_of(self._picture.region), entry.shard)
            times |= {state.time} if state is not None else set()
        for candidate in sorted(times, reverse=True):
            if least <= candidate < time and not self._inexact(inputs, candidate):
                return candidate
        return None


def _views(inputs: list[Entry]) -> list[Entry]:
    return [entry for entry in inputs if entry.kind == "materialized view"]
