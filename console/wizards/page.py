"""Drawing a step: the context each one needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from catalog import reads
from catalog.reads import ItemRow
from catalog.sql import parse_one, render_pretty
from catalog.upstream.publications import publications as published
from console.demo import demo_status
from console.fragments.targets import options, where
from console.wizards import picker
from console.wizards.draft import Draft
from console.wizards.forms import ConnectionForm
from console.wizards.state import STEPS
from ingest.errors import HeadraceError

Context = dict[str, object]


def render_step(
    request: HttpRequest, draft: Draft, step: str, extra: Mapping[str, object]
) -> HttpResponse:
    """The page of a step; `extra` overrides what the draft says."""
    context: Context = {
        "draft": draft,
        "state": draft.state,
        "step": step,
        "number": STEPS.index(step) + 1,
        "base": f"/sources/new/{draft.id}",
        **_CONTEXTS[step](request, draft),
        **extra,
    }
    page = render(request, f"wizards/{step}.html", context)
    patch_cache_control(page, no_store=True)
    return page


def _connection(request: HttpRequest, draft: Draft) -> Context:
    chosen = draft.connection
    demo = demo_status() if draft.state.demo else None
    fields: dict[str, object] = {**draft.state.fields}
    if demo is not None:
        known = {
            "host": demo.host,
            "port": demo.port,
            "database": demo.database,
            "user": demo.user,
            "name": "shop_pg",
        }
        fields = {**known, **{key: value for key, value in fields.items() if value}}
    levels = {check.level for check in draft.state.checks}
    existing = [item for item in reads.items() if item.kind == "connection"]
    return {
        "form": ConnectionForm(initial=fields),
        "demo": demo,
        "chosen": chosen,
        "where": where(chosen) if chosen else "",
        "existing": [(item, where(item)) for item in existing],
        "checks": draft.state.checks,
        "worst": "error" if "error" in levels else "warning" if "warning" in levels else "ok",
        "sql": _pretty(chosen) if chosen else "",
    }


def _pretty(item: ItemRow) -> str:
    return render_pretty(parse_one(item.redacted_sql).statement)


def _source(request: HttpRequest, draft: Draft) -> Context:
    chosen = draft.connection
    error: HeadraceError | None = None
    publications: tuple[object, ...] = ()
    try:
        publications = published(draft.state.connection)
    except HeadraceError as failure:
        error = failure
    names = {item.name for item in reads.items()}
    database = options(chosen).get("database", "source") if chosen else "source"
    candidates = (database, *(f"{database}_{number}" for number in range(2, len(names) + 3)))
    suggested = draft.state.name or next(name for name in candidates if name not in names)
    return {
        "connection": chosen,
        "publications": publications,
        "error": error,
        "name": suggested,
        "publication": draft.state.publication,
    }


_CONTEXTS: dict[str, Callable[[HttpRequest, Draft], Context]] = {
    "connection": _connection,
    "source": _source,
    "tables": picker.context,
    "review": picker.review,
}
