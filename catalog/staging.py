"""SHOW CHANGES FOR REPLACEMENT: what an apply would change, row by row, at one time."""

from __future__ import annotations

from django.conf import settings

from catalog.inputs import view_input
from catalog.models import ViewProgress
from catalog.plan.picture import Entry
from catalog.plan.plans import StagedChanges
from catalog.results import Rows
from ingest import engine
from ingest.errors import Transient


def rows(region: str, plan: StagedChanges) -> Rows:
    """The rows that come (mz_diff 1) and go (-1), at the newest time that both views have.

    Raises Transient (55000) while one of them has no rows yet.
    """
    time = min(_through(region, entry) for entry in (plan.target, plan.replacement))
    result = engine.staged_rows(
        settings.HEADRACE_PLANE,
        view_input(plan.target),
        view_input(plan.replacement),
        time,
        plan.limit,
    )
    tag = f"SELECT {result.data.num_rows}"
    return Rows(tag, plan.relation, result.data, timestamp=time)


def _through(region: str, entry: Entry) -> int:
    progress = ViewProgress.objects.filter(item__region__name=region, shard=entry.shard).first()
    if progress is not None and progress.hydrated:
        return progress.complete_through
    share = progress.percent if progress is not None else 0
    message = f'materialized view "{entry.name}" is not hydrated yet: {share}%'
    hint = "Try again when it is; its page shows the progress."
    raise Transient(message, hint=hint, sqlstate="55000")
