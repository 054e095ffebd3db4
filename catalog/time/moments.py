"""Which time a query reads at: the newest at which every input is complete."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from dataclasses import dataclass

from catalog.errors import InvalidStatement, StaleCatalog
from catalog.plan.picture import Entry, Picture
from catalog.time.bounds import Bounds, bounds
from catalog.time.oracle import newest_time, next_time
from ingest.errors import HeadraceError, Transient

POLL = 0.05
PATIENCE = 10.0
"""Seconds that a query waits for a table's first snapshot before it says how far that is."""
LAG = 5.0
"""Seconds that a query waits for a view that is behind before it is computed instead."""


@dataclass(frozen=True)
class Wanted:
    """What the session asks for: `at_least` is what it has seen, `as_of` an exact time (ms).

    `strict`: nothing that any writer was told of may be missing.
    """

    at_least: int = 0
    as_of: int | None = None
    timeout: float | None = 60.0
    strict: bool = False


class Behind(Transient):
    """Only maintained views (ids in `views`) are not as far yet as is asked for."""

    def __init__(self, views: frozenset[str], found: Bounds, target: int) -> None:
        super().__init__(
            "canceling statement due to statement timeout",
            detail=f"The inputs are complete through {found.through}, and {target} was asked for.",
            hint="A materialized view of the query stands still: look at its status.",
            sqlstate="57014",
        )
        self.views = views


def moment(region: str, picture: Picture, inputs: Iterable[Entry], wanted: Wanted) -> int:
    """The mz_timestamp to read the inputs at; waits until there is one.

    Raises Transient for a table without its snapshot or a feed that stands still for too long,
    Behind for maintained views that do, Terminal for a table that has failed, InvalidStatement
    for a time that cannot be read.
    """
    entries = list(inputs)
    started = clock.monotonic()
    limit = wanted.timeout or float("inf")
    while True:
        found = bounds(region, picture, entries)
        chosen = _choose(region, found, wanted)
        if chosen is not None:
            return chosen
        waited = clock.monotonic() - started
        if found.late and not found.waiting and waited > min(limit, LAG):
            raise Behind(found.late, found, wanted.as_of or wanted.at_least)
        if waited > (min(limit, PATIENCE) if found.waiting else limit):
            raise _late(found, wanted)
        clock.sleep(POLL)


def _choose(region: str, found: Bounds, wanted: Wanted) -> int | None:
    if wanted.as_of is not None:
        return _exact(region, found, wanted)
    _refuse(found)
    if found.waiting:
        return None
    at_least = max(wanted.at_least, found.told) if wanted.strict else wanted.at_least
    through = found.through
    if through is None:
        through = max(newest_time(region), at_least)
    if through >= max(found.since, at_least):
        return through
    if any(view.replaced for view in found.views.values()):
        message = "a materialized view was replaced while the query was placed"
        raise StaleCatalog(message, hint="Run the query again.")
    return None


def _refuse(found: Bounds) -> None:
    """Raise what a view's own query runs into."""
    for view in found.views.values():
        if view.error is not None:
            raise view.error


def _exact(region: str, found: Bounds, wanted: Wanted) -> int | None:
    time = wanted.as_of or 0
    if not found.waiting and time < found.since:
        message = f"Timestamp ({time}) is not valid for all inputs: [{found.since}]"
        hint = f"The oldest readable timestamp is {found.since}."
        raise InvalidStatement(message, hint=hint, sqlstate="22023")
    newest = max(newest_time(region), clock.time_ns() // 1_000_000)
    if time > newest + int((wanted.timeout or 0) * 1000):
        message = f"timestamp {time} is in the future"
        detail = f"The newest timestamp is {newest}."
        raise InvalidStatement(message, detail=detail)
    if found.waiting:
        return None
    if found.through is not None:
        if time > found.through and time <= newest:
            _pass(region, time)
        return time if time <= found.through else None
    return time if time <= newest else None


def _pass(region: str, time: int) -> None:
    """Let the oracle pass a time that the clock has passed: plain tables close by it."""
    if newest_time(region) < time:
        next_time(region)


def _late(found: Bounds, wanted: Wanted) -> HeadraceError:
    if found.waiting:
        return Transient(
            found.waiting[0],
            hint="Try again when its snapshot is complete; its page shows the progress.",
            sqlstate="55000",
        )
    target = wanted.as_of or wanted.at_least
    return Transient(
        "canceling statement due to statement timeout",
        detail=f"The inputs are complete through {found.through}, and {target} was asked for.",
        hint="A source of the query stands still: look at its status. SET transaction_isolation "
        "= 'serializable' reads what is there.",
        sqlstate="57014",
    )
