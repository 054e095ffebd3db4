"""The live views of materialized views: the list, one of them, and one replacement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from catalog.reads import ViewRow
from catalog.reads import views as maintained
from catalog.reads.lineage import near as neighbours
from console.fragments import keeping, staged
from console.fragments.model import Fragment, Group, View
from console.fragments.paging import Gone, Parameters, cut
from console.fragments.places import entries


@dataclass(frozen=True)
class Pending:
    """A replacement as the list of views names it."""

    id: str
    name: str
    look: str
    title: str


@dataclass(frozen=True)
class Phase:
    """A step on the way to an apply: `state` is done, now or todo."""

    name: str
    state: str
    note: str


def known() -> tuple[tuple[ViewRow, ...], tuple[ViewRow, ...]]:
    """All materialized views, and all replacements."""
    return maintained.views(), maintained.replacements()


def views(parameters: Parameters) -> View:
    """Materialized views by name (`q`), a page at a time."""
    found = maintained.views(search=parameters.get("q", ""))
    rows, page = cut(found, parameters)
    pending: dict[str, list[Pending]] = defaultdict(list)
    for one in maintained.replacements() if rows else ():
        if one.target is not None:
            pending[one.target.id].append(_pending(one))
    now = timezone.now()
    lines = tuple(
        Fragment(
            f"view-{row.item.id}",
            "views/row.html",
            {
                "view": row,
                "state": keeping.state(row),
                "lag": keeping.lag(row, now),
                "kept": keeping.kept(row).short,
                "pending": tuple(pending[row.item.id]),
            },
        )
        for row in rows
    )
    empty = Fragment("views-none", "views/none.html", {"q": parameters.get("q", "")})
    return {
        "rows": Group("view-rows", lines, empty),
        "count": Fragment("views-count", "views/count.html", {"page": page}),
    }


def _pending(row: ViewRow) -> Pending:
    word = keeping.state(row)
    looks = {"failed": "bad", "stalled": "warn", "paused": "warn", "running": "accent"}
    title = f"{word} {row.percent}%" if word == "hydrating" else word
    return Pending(row.item.id, row.item.name, looks.get(word, "dim"), title)


def view(parameters: Parameters) -> View:
    """One view: status, trouble, hydration, numbers, how it is kept, its replacements."""
    row = maintained.view(parameters.get("id", ""))
    if row is None or row.target is not None:
        raise Gone
    now = timezone.now()
    numbers = {"view": row, "state": keeping.state(row), "lag": keeping.lag(row, now)}
    waiting = tuple(
        Fragment(f"replacement-{one.item.id}", "replacements/row.html", _line(one, row))
        for one in maintained.replacements(row.item.id)
    )
    return {
        **_common(row),
        "numbers": Fragment("view-numbers", "views/numbers.html", numbers),
        "kept": Fragment("view-kept", "views/kept.html", _kept(row)),
        "replacements": Group("replacement-rows", waiting),
    }


def _common(row: ViewRow) -> dict[str, Fragment | Group]:
    word = keeping.state(row)
    elapsed = int((timezone.now() - row.item.created_at).total_seconds())
    hydration = {
        "view": row,
        "state": word,
        "elapsed": elapsed if word in {"hydrating", "paused"} else 0,
    }
    return {
        "status": Fragment(
            "view-status", "parts/status.html", {"word": word, "status": row.status}
        ),
        "trouble": Fragment("view-trouble", "parts/trouble.html", {"status": row.status}),
        "hydration": Fragment("view-hydration", "views/hydration.html", hydration),
    }


def _kept(row: ViewRow) -> dict[str, object]:
    near = neighbours(row.item.id)
    return {
        "view": row,
        "kept": keeping.kept(row),
        "options": keeping.option_lines(row.options),
        "inputs": entries(near.inputs),
        "readers": entries(near.readers),
    }


def _line(row: ViewRow, target: ViewRow) -> dict[str, object]:
    return {
        "view": row,
        "state": keeping.state(row),
        "staged": staged.shown(row.staged, target),
        "rule": staged.rule(row.guard),
    }


def replacement(parameters: Parameters) -> View:
    """One replacement: how far it is, and what applying it would change."""
    row = maintained.view(parameters.get("id", ""))
    if row is None or row.target is None:
        raise Gone
    target = maintained.view(row.target.id)
    if target is None:
        raise Gone
    counts = staged.shown(row.staged, target)
    verdict = staged.verdict(counts, row.guard, _stopped(row))
    readers = [item for item in neighbours(target.item.id).readers if item != row.item]
    why = "" if row.hydrated else "It can be applied when it is hydrated."
    return {
        **_common(row),
        "phases": Fragment(
            "replacement-phases", "replacements/phases.html", {"steps": phases(row)}
        ),
        "act": Fragment(
            "replacement-act", "replacements/act.html", {"ready": row.hydrated, "why": why}
        ),
        "staged": Fragment(
            "replacement-staged",
            "replacements/staged.html",
            {
                "staged": counts,
                "state": keeping.state(row),
                "verdict": verdict,
                "keyed": bool(target.key),
                "version": _version(counts, hydrated=row.hydrated),
            },
        ),
        "numbers": Fragment(
            "replacement-numbers",
            "replacements/numbers.html",
            {
                "staged": counts,
                "target": target.item,
                "dependents": tuple(readers),
                "verdict": verdict,
            },
        ),
    }


def _stopped(row: ViewRow) -> str:
    """Which guard rail holds it back, as the maintainer says it."""
    return row.status.detail if row.guard and not row.status.error else ""


def _version(counts: staged.Shown | None, *, hydrated: bool) -> str:
    """What the rows on the page follow: they are read again when the counts move."""
    if counts is None:
        return f"hydrated {hydrated}"
    return f"{counts.added} {counts.removed} {counts.changed}"


def phases(row: ViewRow) -> Sequence[Phase]:
    """From the definition to the apply."""
    word = keeping.state(row)
    hydrating = f"{row.percent} %" if not row.hydrated else "its rows are here"
    note = {"paused": "stopped", "failed": "failed", "stalled": "stalled"}.get(word, hydrating)
    automatic = staged.rule(row.guard) if row.guard else "when you say so"
    counted = row.staged is not None
    return (
        Phase("Defined", "done", "columns fit the view"),
        Phase("Hydrate", "done" if row.hydrated else "now", note),
        Phase(
            "Compare",
            "done" if counted else "now" if row.hydrated else "todo",
            "rows counted" if counted else "count the rows that change",
        ),
        Phase("Apply", "now" if counted else "todo", automatic),
    )
