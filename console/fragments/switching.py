"""The live pieces of pages about tables that are replaced because upstream changed."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.errors import UnknownItem
from catalog.here import region_here
from catalog.migrate.schema_change import store
from catalog.migrate.schema_change.plan import Step, told
from catalog.migrate.schema_change.store import ChangeRow
from console.fragments.model import Fragment, Group, View
from console.fragments.paging import Gone, Parameters
from console.fragments.statements import pretty

LOOKS = {"open": "hydrating", "done": "running", "given up": "stalled"}
EDITED = frozenset({"table", "view", "replacement"})
"""Steps whose statement may be given in other words."""
_TITLES = {
    "table": "Make the new table",
    "snapshot": "Read its snapshot",
    "view": "Make a view beside the old one",
    "replacement": "Stage a replacement",
    "compare": "Compare every row",
    "apply": "Apply the replacement",
    "retire": "Retire the old table",
}


@dataclass(frozen=True)
class Shown:
    """A step as its page shows it: `state` is done, now or empty; `path` leads to what it made."""

    step: Step
    title: str
    state: str
    sql: str
    path: str
    edited: bool


def change(parameters: Parameters) -> View:
    """One switch: state, what to do next, trouble, steps and what happened."""
    try:
        return pieces(store.one(region_here(), parameters.get("id", "")))
    except UnknownItem as error:
        raise Gone from error


def pieces(row: ChangeRow) -> View:
    """The live pieces of one that was read already."""
    data = {
        "id_": row.id,
        "state": row.state,
        "look": LOOKS[row.state],
        "next": row.next,
        "error": row.error,
        "hint": row.hint,
        "others": row.others,
        "told": told(row.steps) if row.steps else row.state,
        "ready": row.current is not None and not row.current.waits,
        "retiring": row.current is not None and row.current.kind == "retire",
    }
    steps = tuple(
        Fragment(f"step-{number}", "switching/step.html", {"s": one, "number": number})
        for number, one in enumerate(_shown(row), 1)
    )
    events = tuple(
        Fragment(f"event-{number}", "switching/event.html", {"event": event})
        for number, event in enumerate(row.events)
    )
    return {
        "status": Fragment("change-status", "switching/status.html", data),
        "next": Fragment("change-next", "switching/next.html", data),
        "trouble": Fragment("change-trouble", "switching/trouble.html", data),
        "steps": Group("change-steps", steps),
        "events": Group("change-events", events),
    }


def _shown(row: ChangeRow) -> list[Shown]:
    current = row.current
    return [
        Shown(
            step,
            _TITLES[step.kind],
            "done" if step.done else ("now" if step is current else ""),
            "\n".join(f"{_laid_out(one)};" for one in step.statements),
            _path(step),
            step.kind in EDITED,
        )
        for step in row.steps
    ]


def _laid_out(statement: str) -> str:
    return pretty(statement).rstrip(";") if statement.startswith("CREATE ") else statement


def _path(step: Step) -> str:
    if not step.made:
        return ""
    if step.kind in {"table", "snapshot"}:
        return f"/tables/{step.made}"
    if step.kind == "view":
        return f"/objects/{step.made}"
    return f"/replacements/{step.made}"
