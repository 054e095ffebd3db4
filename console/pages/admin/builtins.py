"""Built-in relations: what the next start does to them, what they are, what was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from catalog.migrate import reads, releases
from catalog.migrate.builtins import Remembered, steps_of
from catalog.migrate.plan import Blocker
from catalog.regions import region_names
from console.fragments.paging import cut
from console.visitor import owners_only
from ingest.errors import HeadraceError

_LISTED = 200


@dataclass(frozen=True)
class Change:
    """What the next start does to one built-in; `readers` are users' views that name it."""

    action: str
    name: str
    old: str
    new: str
    why: str
    readers: tuple[str, ...]


@dataclass(frozen=True)
class Start:
    """What the next start does to one region; `error` where it cannot even be looked at."""

    region: str
    changes: tuple[Change, ...] = ()
    kept: int = 0
    blockers: tuple[Blocker, ...] = ()
    first: bool = False
    error: HeadraceError | None = None

    @property
    def verdict(self) -> tuple[str, str]:
        """What becomes of the start, in words, and how that is coloured."""
        if self.error is not None or self.blockers:
            return "would be refused", "failed"
        if self.first:
            return "remembers all of them", "sealed"
        return ("changes built-ins", "sealed") if self.changes else ("nothing to do", "running")


@owners_only
def builtin_page(request: HttpRequest) -> HttpResponse:
    """Plans of the next start, region by region; the ids there are (`?tab=status`, searched)."""
    tab = "status" if request.GET.get("tab") == "status" else "plan"
    context: dict[str, object] = {"tab": tab, "release": releases.RELEASE}
    context |= _status(request) if tab == "status" else _plans()
    return render(request, "migrations/builtins.html", context)


def _plans() -> dict[str, object]:
    past = [row for row in reads.everywhere(_LISTED) if row.kind == "built-ins"]
    return {"starts": [start(name) for name in region_names()], "past": past}


def start(region: str) -> Start:
    """What the next start of this code does to a region; changes nothing."""
    try:
        prepared = releases.look(region)
    except HeadraceError as error:
        return Start(region, error=error)
    if prepared.first:
        return Start(region, kept=len(prepared.plan.creates), first=True)
    readers = releases.readers(region) if prepared.plan.changes else {}
    changes = tuple(
        Change(
            step.action,
            name := ".".join(filter(None, step.path)),
            step.item,
            step.new_item,
            step.why,
            readers.get(name, ()),
        )
        for step in steps_of(prepared.plan)
    )
    return Start(region, changes, len(prepared.plan.kept), prepared.blockers)


def _status(request: HttpRequest) -> dict[str, object]:
    asked = request.GET.dict()
    q = asked.get("q", "").strip()
    names = region_names()
    region = asked.get("region", names[0] if names else "")
    rows, pager = cut(tuple(_found(region, q)), asked)
    query = urlencode({"tab": "status", "region": region, "q": q})
    return {
        "rows": rows,
        "pager": pager,
        "path": f"?{query}&",
        "q": q,
        "region": region,
        "regions": names,
    }


def _found(region: str, q: str) -> Iterator[Remembered]:
    for row in releases.remembered(region):
        if not q or q.lower() in row.name.lower() or q == row.id:
            yield row
