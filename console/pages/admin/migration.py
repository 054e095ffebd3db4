"""One migration: what will happen, step by step; approving, applying and taking it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from catalog.errors import UnknownItem
from catalog.here import region_here
from catalog.migrate import apply, reads, regions, rollback, store
from catalog.migrate.reads import MigrationPage, MigrationRow
from console.fragments import migrating
from console.fragments.attachment import attachment
from console.fragments.compare import compare
from console.fragments.paging import PAGE, asked_page, page_of
from console.fragments.statements import pretty
from console.visitor import owners_only, user_of
from ingest.errors import HeadraceError

ACTIONS = {
    "strip": "source{} keep{s} name and id, and no longer say{s} what {its} tables are",
    "split": "source{} give{s} name and data to a table, and {is} named anew",
    "new table": "table{} with the name and the data that {was} a source's",
    "to table": "subsource{} or webhook{} become{s} {a}table{}: same name, id and data",
    "progress view": "progress subsource{} become{s} {a}view{}: same name and id",
    "repoint": "dependent{} follow{s} the data: same name and id, same query",
    "drop": "built-in{} {is} not in this release",
    "create": "built-in{} {is} new in this release",
    "replace": "built-in{} get{s} a new id",
}
DOWNLOADS = (("dbt", "dbt"), ("terraform", "Terraform"), ("sql", "SQL"))
_DONE = {
    "approve": "Approved {}",
    "pause": "Paused {}",
    "apply": "Applied {}",
    "rollback": "Rolled back {}",
}
_ACTS: dict[str, Callable[[str, str, str], object]] = {
    "approve": store.approve,
    "pause": store.pause,
    "apply": apply.apply,
    "rollback": rollback.roll_back,
}


@owners_only
def migration_page(request: HttpRequest, region: str, gid: str) -> HttpResponse:
    """The page; `tab`, `q` and `page` choose what of the plan is shown."""
    return _page(request, region, gid, None)


def _page(
    request: HttpRequest, region: str, gid: str, error: HeadraceError | None
) -> HttpResponse:
    asked = request.GET.dict()
    tab = asked.get("tab", "overview")
    tab = tab if tab in _TABS else "overview"
    found = _read(region, gid, tab, asked)
    row = found.row
    context: dict[str, object] = {
        "row": row,
        "page": migrating.pieces(row, found.events),
        "tab": tab,
        "tabs": tuple(_tabs(row)),
        "tables": row.kind == store.TABLES,
        "cohort": regions.cohort_of(region),
        "own": region == region_here(),
        "downloads": DOWNLOADS if row.kind == store.TABLES else DOWNLOADS[-1:],
        "error": error if error is not None and error.message not in row.error else None,
        **_TABS[tab](found, asked),
    }
    return render(request, "migrations/page.html", context)


def _read(region: str, gid: str, tab: str, asked: Mapping[str, str]) -> MigrationPage:
    steps = tab == "steps"
    offset = (asked_page(asked) - 1) * PAGE if steps else 0
    try:
        return reads.page(region, gid, offset, PAGE if steps else 0, asked.get("q", "").strip())
    except UnknownItem as error:
        raise Http404 from error


def _tabs(row: MigrationRow) -> Iterator[tuple[str, str, int]]:
    yield "overview", "What will happen" if row.applied_at is None else "Overview", 0
    yield "steps", "Steps", row.summary.get("steps", 0)
    yield "ids", "Id map", row.summary.get("ids_changed", 0)
    yield "dependents", "Dependents", row.summary.get("dependents_count", 0)
    yield "events", "What happened", 0


def _overview(found: MigrationPage, asked: Mapping[str, str]) -> dict[str, object]:
    counts: dict[str, int] = found.row.summary.get("actions", {})
    return {"changes": [(count, action_words(name, count)) for name, count in counts.items()]}


def action_words(action: str, count: int) -> str:
    """What so many steps of a kind do, in words that follow the number."""
    one = count == 1
    words = {"s": "s" if one else "", "is": "is" if one else "are", "a": "a " if one else ""}
    words |= {"was": "was" if one else "were", "its": "its" if one else "their"}
    plural = "" if one else "s"
    return ACTIONS.get(action, action).format(plural, plural, plural, **words)


def _steps(found: MigrationPage, asked: Mapping[str, str]) -> dict[str, object]:
    q = asked.get("q", "").strip()
    pager = page_of(asked_page(asked), found.total)
    path = urlencode({"tab": "steps", "q": q} if q else {"tab": "steps"})
    return {"steps": found.steps, "q": q, "pager": pager, "path": f"?{path}&"}


def _ids(found: MigrationPage, asked: Mapping[str, str]) -> dict[str, object]:
    pager = page_of(asked_page(asked), found.row.summary.get("ids_changed", 0))
    rows = reads.id_map(found.row, (pager.number - 1) * PAGE, PAGE)
    return {"ids": rows, "pager": pager, "path": "?tab=ids&"}


def _dependents(found: MigrationPage, asked: Mapping[str, str]) -> dict[str, object]:
    ids: list[str] = found.row.summary.get("dependents", [])
    pager = page_of(asked_page(asked), len(ids))
    start = (pager.number - 1) * PAGE
    rows = reads.named(found.row.region, ids[start : start + PAGE])
    return {"dependents": rows, "pager": pager, "path": "?tab=dependents&"}


def _events(found: MigrationPage, asked: Mapping[str, str]) -> dict[str, object]:
    return {}


_TABS: dict[str, Callable[[MigrationPage, Mapping[str, str]], dict[str, object]]] = {
    "overview": _overview,
    "steps": _steps,
    "ids": _ids,
    "dependents": _dependents,
    "events": _events,
}


@owners_only
def step(request: HttpRequest, region: str, gid: str, number: int) -> HttpResponse:
    """One step, its statement before and after side by side."""
    try:
        found = reads.step(region, gid, number)
    except UnknownItem as error:
        raise Http404 from error
    context = {"step": found, "comparison": compare(pretty(found.before), pretty(found.after))}
    return render(request, "migrations/step.html", context)


@require_POST
@owners_only
def act(request: HttpRequest, region: str, gid: str, action: str) -> HttpResponse:
    """Approve, pause, apply or roll back; a refusal is told on the page, in words."""
    if action not in _ACTS:
        raise Http404
    try:
        _ACTS[action](region, gid, user_of(request).email)
    except UnknownItem as error:
        raise Http404 from error
    except HeadraceError as error:
        return _page(request, region, gid, error)
    messages.success(request, _DONE[action].format(gid))
    return redirect(f"/migrations/{region}/{gid}")


@owners_only
def rollback_check(request: HttpRequest, region: str, gid: str) -> HttpResponse:
    """What is in the way of taking it back, as things are; read when the dialog opens."""
    context: dict[str, object] = {}
    try:
        found = store.migration(region, gid)
        context["blockers"] = rollback.rollback_blockers(found)
    except HeadraceError as error:
        context["error"] = error
    return render(request, "migrations/rollback.html", context)


@owners_only
def download(request: HttpRequest, region: str, gid: str, what: str) -> HttpResponse:
    """What to change in dbt or Terraform, or the steps as SQL, as a file."""
    try:
        text = reads.download(region, gid, what)
    except HeadraceError as error:
        raise Http404 from error
    return attachment(text, f"{gid}-{what}.txt")
