"""The live pieces of the pages about migrations and rollouts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import timezone

from catalog.errors import UnknownItem
from catalog.migrate import reads, regions
from catalog.migrate.reads import EventRow, MigrationRow
from catalog.migrate.regions import CohortRow, RegionRow
from catalog.migrate.store import TABLES
from console.fragments.model import Fragment, Group, View
from console.fragments.paging import Gone, Parameters

LOOKS = {
    "planned": "sealed",
    "approved": "sealed",
    "paused": "paused",
    "applying": "hydrating",
    "applied": "running",
    "rolling back": "hydrating",
    "rolled back": "stalled",
    "superseded": "",
}
"""How a state is coloured."""


@dataclass(frozen=True)
class Phase:
    """A part of a migration's life: `state` is done, now or empty."""

    name: str
    state: str
    note: str


@dataclass(frozen=True)
class Told:
    """An event with the one before it told apart: `seconds` since then, -1 for the first."""

    event: EventRow
    seconds: float


def migrations(parameters: Parameters) -> View:
    """All regions with what is left in each, and the newest migrations of all."""
    rows = tuple(_row(row) for row in reads.everywhere())
    return {
        "regions": Group("region-rows", tuple(_region(row) for row in regions.regions())),
        "rows": Group("migration-rows", rows, Fragment("migrations-none", "migrations/none.html")),
    }


def _row(row: MigrationRow) -> Fragment:
    key = f"migration-{row.region}-{row.id}".replace("/", "-")
    return Fragment(key, "migrations/row.html", {"row": row, "look": LOOKS[row.state]})


def _region(row: RegionRow) -> Fragment:
    key = f"region-{row.name}".replace("/", "-")
    return Fragment(key, "migrations/region.html", {"region": row, "look": LOOKS.get(row.state)})


def migration(parameters: Parameters) -> View:
    """One migration: state, what can be done, trouble, phases, numbers and what happened."""
    region, gid = parameters.get("region", ""), parameters.get("id", "")
    try:
        found = reads.page(region, gid, 0, 0)
    except UnknownItem as error:
        raise Gone from error
    return pieces(found.row, found.events)


def pieces(row: MigrationRow, happened: tuple[EventRow, ...]) -> View:
    """The live pieces of a migration that was read already."""
    blocked = row.summary.get("blockers_count", 0)
    data = {"row": row, "look": LOOKS[row.state], "blocked": blocked}
    told = {"row": row, "kept": kept(row), "tables": row.kind == TABLES}
    events = tuple(
        Fragment(f"event-{number}", "migrations/event.html", {"told": one})
        for number, one in enumerate(_told(happened))
    )
    return {
        "status": Fragment("migration-status", "migrations/status.html", data),
        "acts": Fragment("migration-acts", "migrations/acts.html", {**data, **told}),
        "trouble": Fragment("migration-trouble", "migrations/trouble.html", data),
        "next": Fragment("migration-next", "migrations/next.html", data),
        "phases": Fragment(
            "migration-phases", "replacements/phases.html", {"steps": tuple(phases(row))}
        ),
        "numbers": Fragment("migration-numbers", "migrations/numbers.html", {**data, **told}),
        "events": Group("migration-events", events),
    }


def kept(row: MigrationRow) -> bool:
    """Whether it can be taken back now."""
    over = row.expires_at is None or row.expires_at < timezone.now()
    return row.kind == TABLES and row.state == "applied" and not over


def phases(row: MigrationRow) -> Iterator[Phase]:
    """From the plan to the end of the time in which it can be taken back."""
    applied = row.state in {"applied", "rolling back", "rolled back"}
    approved = applied or row.state in {"approved", "paused", "applying"}
    waits = {"planned": "now", "superseded": ""}.get(row.state, "")
    yield Phase("Planned", "done", f"{_moment(row.planned_at)} by {row.user}")
    yield Phase("Approved", "done" if approved else waits, _approved(row))
    yield Phase("Applied", "done" if applied else ("now" if approved else ""), _applied(row))
    yield _last(row)


def _approved(row: MigrationRow) -> str:
    if row.approved_at is not None:
        return f"{_moment(row.approved_at)} by {row.approved_by}"
    if row.state == "superseded":
        return "a newer plan took its place"
    return "waits for a person" if row.state == "planned" else "was not asked for"


def _applied(row: MigrationRow) -> str:
    if row.applied_at is not None:
        return _moment(row.applied_at)
    return {
        "applying": "under way",
        "approved": "in its window, or now",
        "paused": "paused",
    }.get(row.state, "not yet")


def _last(row: MigrationRow) -> Phase:
    if row.state == "rolling back":
        return Phase("Rolling back", "now", "under way")
    if row.rolled_back_at is not None:
        return Phase("Rolled back", "done", _moment(row.rolled_back_at))
    if kept(row) and row.expires_at is not None:
        return Phase("Can be rolled back", "now", f"until {_moment(row.expires_at)}")
    if row.state == "applied":
        return Phase("Final", "done", "can no longer be rolled back")
    return Phase("Can be rolled back", "", "for seven days" if row.kind == TABLES else "never")


def _moment(at: dt.datetime) -> str:
    return f"{at:%d %b %H:%M}"


def _told(events: tuple[EventRow, ...]) -> Iterator[Told]:
    before: EventRow | None = None
    for event in events:
        yield Told(event, (event.at - before.at).total_seconds() if before else -1.0)
        before = event


def rollout(parameters: Parameters) -> View:
    """Regions and cohorts: how far each is."""
    rows = regions.regions()
    by_name = {row.name: row for row in rows}
    cohorts = tuple(_cohort(row, by_name) for row in regions.cohorts())
    return {
        "regions": Group("rollout-regions", tuple(_place(row) for row in rows)),
        "cohorts": Group("cohort-rows", cohorts, Fragment("cohorts-none", "rollout/none.html")),
    }


def _place(row: RegionRow) -> Fragment:
    key = f"place-{row.name}".replace("/", "-")
    return Fragment(key, "rollout/region.html", {"region": row, "look": LOOKS.get(row.state)})


def _cohort(row: CohortRow, by_name: dict[str, RegionRow]) -> Fragment:
    inside = [by_name[name] for name in row.regions if name in by_name]
    done = sum(one.progress.left == 0 for one in inside)
    state, look = window(row, timezone.now())
    data = {
        "cohort": row,
        "done": done,
        "approved": sum(one.state == "approved" for one in inside),
        "state": state,
        "look": look,
    }
    return Fragment(f"cohort-{row.name}", "rollout/cohort.html", data)


def window(row: CohortRow, now: dt.datetime) -> tuple[str, str]:
    """What a cohort does now, in words, and how that is coloured."""
    if row.paused:
        return "paused", "paused"
    if row.opens_at is None or row.closes_at is None:
        return "no window", ""
    if now < row.opens_at:
        return "waits for its window", "sealed"
    return ("window open", "running") if now < row.closes_at else ("window over", "")
