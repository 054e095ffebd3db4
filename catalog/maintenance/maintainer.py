"""The one process of a region that keeps its materialized views.

A round takes one time for all that hangs together and brings every view to it, views before what
reads them. What it did is in Delta; the catalog's rows say how far readers may go. A view that is
slow or fails holds up itself and what reads it, and nothing else.
"""

from __future__ import annotations

import logging
import threading
import time as clock
from dataclasses import replace

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections

from catalog import leases, snapshot
from catalog.maintenance import reports, rounds
from catalog.maintenance.kept import Kept, Known, kept_of, known_of
from catalog.maintenance.reports import Standing, ViewReport
from catalog.maintenance.rounds import Shard
from catalog.maintenance.staged import Run, Staging, guarded
from catalog.maintenance.steps import Outcome, Steps
from catalog.plan.picture import Picture
from catalog.time import closing
from ingest.errors import HeadraceError, Transient

RENEW = 3.0
WATCH = 0.1
"""Seconds between two looks at whether the catalog has changed, or a feed has come further."""
PATIENCE = 2.0
"""Seconds between two tries to get a lease that another process holds."""
VERSIONS = 60.0
"""Seconds between two steps of a version that an undo would bring back."""
LONGEST_PAUSE = 30.0
REST = 0.5
"""How long a view is left in peace after a step, for the time that the step took: what changes all
the time is followed in fewer, larger steps, and what changes now and then at once."""
LONGEST_REST = 1.0
_log = logging.getLogger(__name__)


class Maintainer:
    """Keeps a region's views from when it gets the lease until it is told to stop."""

    def __init__(self, region: str, owner: str, run: Run | None = None) -> None:
        """`run` is how replacements are applied by themselves; None leaves them to people."""
        self._region = region
        self._owner = owner
        self._wake = threading.Event()
        self._epoch: int | None = None
        self._renewed = 0.0
        self._next_round = 0.0
        self._versions_at = 0.0
        self._picture: Picture | None = None
        self._kept: dict[str, Kept] = {}
        self._shards: dict[str, Shard] = {}
        self._upto: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._asked: set[str] = set()
        self._steps = Steps(self._wake.set)
        self._staging = Staging(region, run)

    def run(self, stop: threading.Event) -> None:
        """Keep the views until told to stop; then give the lease back."""
        while not stop.is_set():
            pause = WATCH
            try:
                pause = self.turn()
            except DatabaseError:
                _log.warning("the catalog cannot be asked for now", exc_info=True)
            except HeadraceError as error:
                _log.warning("views are not kept for now: %s", error.message)
            close_old_connections()
            self._wake.wait(pause)
            self._wake.clear()
        self._steps.close()
        self._staging.close()
        leases.release_views(self._region, self._owner)

    def turn(self) -> float:
        """Do what can be done now; seconds after which it is worth looking again."""
        if not self._leads():
            return PATIENCE
        ended = self._steps.taken()
        changed = self._refresh()
        self._settle(ended)
        now = clock.monotonic()
        begun = changed or now >= self._next_round or self._fed()
        if begun:
            self._begin(now)
        if begun or ended:
            self._look(now)
        if begun and self._picture is not None:
            self._staging.consider(self._picture, self._shards)
        return WATCH

    @property
    def busy(self) -> bool:
        """Whether a step is running."""
        return any(one.running for one in self._shards.values())

    def _leads(self) -> bool:
        """Hold the lease; what was known is forgotten when it was lost."""
        now = clock.monotonic()
        if self._epoch is not None and now - self._renewed < RENEW:
            return True
        if self._epoch is not None and leases.renew_views(self._region, self._owner, self._epoch):
            self._renewed = now
            return True
        self._picture, self._shards = None, {}
        self._epoch = leases.acquire_views(self._region, self._owner)
        self._renewed = now
        return self._epoch is not None

    def _refresh(self) -> bool:
        """Take in a changed catalog, and shards that were hydrated since; whether it changed."""
        picture = snapshot.current(self._region)
        changed = picture is not self._picture
        if changed:
            self._picture, self._kept = picture, kept_of(picture)
            self._shards = {s: one for s, one in self._shards.items() if s in self._kept}
            for shard, one in self._shards.items():
                if one.kept.view != self._kept[shard].view:
                    one.failed, one.again = 0, 0.0
                one.kept = self._kept[shard]
        return changed

    def _fed(self) -> bool:
        """Whether a feed that views read has come further since the last round began."""
        return bool(self._ends) and rounds.fed(self._region, self._kept) != self._ends

    def _begin(self, now: float) -> None:
        """The times of a new round."""
        self._next_round = now + settings.HEADRACE_VIEW_INTERVAL
        self._ends = rounds.fed(self._region, self._kept)
        closing.resolve(self._region)
        known = known_of(self._region, self._kept)
        self._discover(known)
        self._upto = rounds.times(self._region, self._kept, self._ends)
        self._hold({shard for shard, one in known.items() if one.held})
        versions = now >= self._versions_at
        for shard, one in self._kept.items():
            if one.role == "version" and not versions and shard not in self._asked:
                self._upto.pop(shard, None)
        if versions:
            self._versions_at = now + VERSIONS

    def _hold(self, held: set[str]) -> None:
        """Leave views where they are that others come up to, and bring those just there."""
        self._asked = set()
        for shard in held & self._shards.keys():
            live = self._shards[shard]
            if live.kept.role != "live":
                continue
            self._upto.pop(shard, None)
            for other, one in self._shards.items():
                target = one.kept.entry.view.target or one.kept.entry.id
                if other != shard and target == live.kept.entry.id:
                    self._upto[other] = live.through
                    self._asked.add(other)

    def _discover(self, known: dict[str, Known]) -> None:
        """Find the shards that have data now, and let go of those that have none any more."""
        for shard, kept in self._kept.items():
            state = known.get(shard)
            if state is None or not state.hydrated:
                self._shards.pop(shard, None)
            elif shard not in self._shards:
                self._take_in(kept, state)

    def _take_in(self, kept: Kept, known: Known) -> None:
        found = rounds.shard_of(kept, known)
        if found is None:
            lost = ViewReport(kept.shard, "created", hydrated=False, reason="its data is gone")
            reports.write(self._region, [lost])
            return
        self._shards[kept.shard] = found
        order = {shard: place for place, shard in enumerate(self._kept)}
        self._shards = dict(sorted(self._shards.items(), key=lambda pair: order[pair[0]]))
        if kept.error is not None:
            reports.write(self._region, [reports.failed(kept.shard, kept.error)])

    def _look(self, now: float) -> None:
        """Move on what needs no work, then start the work that there is a place for."""
        found = rounds.look(self._shards, self._upto, now)
        while found.moved:
            if not reports.advance(self._region, found.moved, self._standing()):
                self._next_round = 0.0
                return
            for shard, through in found.moved.items():
                self._shards[shard].through = through
            found = rounds.look(self._shards, self._upto, now)
        for work in found.work:
            one = self._shards[work.shard]
            one.running = self._steps.start(work, one)

    def _standing(self) -> Standing:
        revision = self._picture.revision if self._picture is not None else None
        return Standing(revision, self._epoch)

    def _settle(self, ended: list[Outcome]) -> None:
        """Write down how steps ended. A step stands by itself: all that it read was settled."""
        made = [self._report(outcome) for outcome in ended]
        reports.write(self._region, [one for one in made if one is not None])

    def _report(self, outcome: Outcome) -> ViewReport | None:
        one = self._shards.get(outcome.shard)
        if one is None:
            return None
        one.running, one.took = False, outcome.seconds
        one.rested = clock.monotonic() + min(outcome.seconds * REST, LONGEST_REST)
        if outcome.error is not None:
            return self._failed(one, outcome, outcome.error)
        if outcome.step is None or outcome.state is None:
            return None
        one.failed, one.again, one.pause = 0, 0.0, 0.0
        one.through = max(outcome.upto, outcome.step.time)
        one.last = outcome.state.time
        root = one.kept.view.root if one.kept.view is not None else None
        report = ViewReport(
            outcome.shard,
            "running",
            complete_through=one.through,
            rows=outcome.state.rows,
            bytes=outcome.state.bytes,
            how=outcome.step.how if outcome.step.how != "nothing" else None,
            reason=root.reason if root is not None else "",
        )
        stopped = guarded(self._staging.stopped.get(outcome.shard, ""))
        return replace(reports.cleared(report), detail=stopped)

    def _failed(self, one: Shard, outcome: Outcome, error: HeadraceError) -> ViewReport | None:
        """A failure of the rows waits for other rows; one of the world is tried again soon."""
        one.failed = outcome.upto
        if error.sqlstate[:2] in {"21", "22", "23"}:
            one.again, one.pause = 0.0, 0.0
            return reports.failed(outcome.shard, error)
        one.pause = min(LONGEST_PAUSE, max(0.5, 2 * one.pause))
        one.again = clock.monotonic() + one.pause
        _log.info("view %s not stepped yet: %s", one.kept.entry.name, error.message)
        quiet = isinstance(error, Transient) and one.pause < LONGEST_PAUSE / 4
        return None if quiet else reports.failed(outcome.shard, error)
