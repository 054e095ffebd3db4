"""SHOW CHANGES FOR REPLACEMENT: what an apply would change, row by row, at one time."""

from __future__ import annotations

import time as clock

from catalog.models import ViewProgress
from catalog.plan.picture import Entry, Picture
from catalog.plan.plans import StagedChanges
from catalog.planes import plane_of
from catalog.results import Rows
from catalog.time.bounds import bounds
from catalog.time.inputs import view_input
from catalog.time.moments import Wanted
from ingest import engine
from ingest.errors import Transient

POLL = 0.05


def rows(region: str, plan: StagedChanges, picture: Picture, wanted: Wanted) -> Rows:
    """The rows that come (mz_diff 1) and go (-1), at the newest time that both views are
    complete through; with `wanted.strict` after everything that anybody was told of.

    Waits for such a time. Raises Transient: 55000 while one of the views has no rows yet, 57014
    when the wait was too long.
    """
    time = _common_time(region, plan, picture, wanted)
    result = engine.staged_rows(
        plane_of(region),
        view_input(plan.target),
        view_input(plan.replacement),
        time,
        plan.limit,
    )
    tag = f"SELECT {result.data.num_rows}"
    return Rows(tag, plan.relation, result.data, timestamp=time)


def _common_time(region: str, plan: StagedChanges, picture: Picture, wanted: Wanted) -> int:
    views = (plan.target, plan.replacement)
    moving = [view for view in views if not view.view.sealed]
    started = clock.monotonic()
    while True:
        through = {view.name: _through(region, view) for view in views}
        if not moving:
            return max(through.values())
        times = {through[view.name] for view in moving}
        told = bounds(region, picture, moving).told if wanted.strict else 0
        if len(times) == 1 and max(times) >= max(wanted.at_least, told):
            return max(times)
        if clock.monotonic() - started > (wanted.timeout or float("inf")):
            raise Transient(
                "canceling statement due to statement timeout",
                detail=", ".join(f"{name} is complete through {t}" for name, t in through.items()),
                hint="The two were not complete through one new enough time; try again.",
                sqlstate="57014",
            )
        clock.sleep(POLL)


def _through(region: str, entry: Entry) -> int:
    progress = ViewProgress.objects.filter(item__region__name=region, shard=entry.shard).first()
    if progress is not None and progress.hydrated:
        return progress.complete_through
    share = progress.percent if progress is not None else 0
    message = f'materialized view "{entry.name}" is not hydrated yet: {share}%'
    hint = "Try again when it is; its page shows the progress."
    raise Transient(message, hint=hint, sqlstate="55000")
